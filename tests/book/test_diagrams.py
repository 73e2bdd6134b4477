"""The drawn figures: committed as drawn, readable, and nothing overlaps."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browser import Browser, browser  # noqa: F401 (a fixture)

from fourways import book, figures

FILES = book.drawings()
SVG = "{http://www.w3.org/2000/svg}"

OVERLAPS = """
const box = element => element.getBoundingClientRect();
const inside = (a, b) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
const texts = [...document.querySelectorAll('text')], found = [];
const frames = [...document.querySelectorAll('rect')];
texts.forEach((text, index) => {
  const here = box(text);
  if (!inside(here, box(document.documentElement))) found.push(text.textContent + ' leaves the figure');
  texts.slice(index + 1).filter(other => !apart(here, box(other)))
    .forEach(other => found.push(text.textContent + ' overlaps ' + other.textContent));
  frames.filter(frame => !apart(here, box(frame)) && !inside(here, box(frame)))
    .forEach(frame => found.push(text.textContent + ' crosses an edge'));
});
return found;
"""


def test_the_committed_figures_are_the_ones_that_the_script_draws(root: Path) -> None:
    folder = root / "book" / "figures"
    assert {name: (folder / name).read_text() for name in FILES} == FILES


def test_the_script_writes_them(tmp_path: Path) -> None:
    (tmp_path / "cpp" / "kernels").mkdir(parents=True)
    environment = os.environ | {"FOURWAYS_ROOT": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "fourways.book", "diagrams"], env=environment, check=True)
    assert {path.name: path.read_text() for path in (tmp_path / "book" / "figures").iterdir()} == FILES


@pytest.mark.parametrize("name", FILES)
def test_a_figure_has_title_description_and_real_text(name: str) -> None:
    picture = ElementTree.fromstring(FILES[name])
    assert picture.get("role") == "img"
    assert picture.get("aria-labelledby") == "title description"
    assert picture.findtext(f"{SVG}title") and len(picture.findtext(f"{SVG}desc") or "") > 50
    assert picture.get("font-family", "").endswith("sans-serif")
    assert min(float(text.get("font-size", 0)) for text in picture.iter(f"{SVG}text")) >= 12


def test_light_and_dark_say_the_same() -> None:
    def words(name: str) -> list[str]:
        return re.findall(r">([^<]+)</text>", FILES[name])

    lights = [name for name in FILES if name.endswith("_light.svg")]
    assert 2 * len(lights) == len(FILES) > 0
    for light in lights:
        dark = light.replace("_light", "_dark")
        assert words(light) == words(dark) != []
        assert FILES[light] != FILES[dark]


def test_the_four_ways_have_the_colours_of_the_plots() -> None:
    for way in ("nvrtc", "nvcc", "pycuda", "pybind11"):
        assert f'stroke="{figures.COLOURS[way]}"' in FILES["from_source_to_gpu_light.svg"]


def test_the_grid_shows_each_thread_and_each_element_once() -> None:
    numbers = sorted(int(word) for word in re.findall(r">(\d+)</text>", FILES["threads_of_a_grid_light.svg"]))
    assert numbers == sorted([*range(4)] * 3 + [*range(20)]), "3 blocks of 4 threads, 20 elements"


@pytest.mark.parametrize("name", FILES)
def test_no_text_overlaps_or_leaves_its_box(browser: Browser, root: Path, name: str) -> None:  # noqa: F811
    assert browser.open(root / "book" / "figures" / name) == []
    assert browser.run(OVERLAPS) == []


def test_an_overlap_would_be_seen(browser: Browser, tmp_path: Path) -> None:  # noqa: F811
    good = FILES["from_source_to_gpu_light.svg"]
    picture = tmp_path / "bad.svg"
    picture.write_text(good.replace(">PyCUDA<", ">far too long for its box<").replace(">GPU<", f">{'wide' * 30}<"))
    browser.open(picture)
    found = "\n".join(browser.run(OVERLAPS))
    assert "far too long for its box crosses an edge" in found
    assert "far too long for its box overlaps pybind11" in found
    assert "wide leaves the figure" in found
