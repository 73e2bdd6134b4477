"""The drawn figures: committed as drawn, readable, and nothing overlaps."""

import itertools
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from browser import Browser, browser  # noqa: F401 (a fixture)

from fourways import book, cluster, figures, lesson, timeline

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


def texts(picture: ElementTree.Element) -> list[tuple[str, float, float]]:
    """The words of a picture's texts, and where they stand."""
    return [(each.text or "", float(each.get("x", 0)), float(each.get("y", 0))) for each in picture.iter(f"{SVG}text")]


def arrows(picture: ElementTree.Element) -> list[list[float]]:
    """Of each arrow x and y of its beginning, x and y of its tip."""
    lines = [path.get("d", "") for path in picture.iter(f"{SVG}path") if path.get("fill") == "none"]
    heads = [head.get("points", "") for head in picture.iter(f"{SVG}polygon")]
    number = re.compile(r"[\d.]+")
    return [
        [*map(float, number.findall(line)[:2] + number.findall(head)[:2])]
        for line, head in zip(lines, heads, strict=True)
    ]


def test_streams_are_drawn_as_the_model_of_lesson_11_runs_them() -> None:
    picture = ElementTree.fromstring(FILES["streams_and_events_light.svg"])
    cells = lesson.find("11").notebook.cells
    model: dict[str, Any] = {"itertools": itertools, "timeline": timeline}
    exec(next(cell.source for cell in cells if "def schedule(" in cell.source), model)
    took, stages, unit, top = {"copy in": 2, "compute": 1, "copy out": 1}, timeline.STAGES, 33, 60
    waits = {"copy in": (), "compute": ("copy in",), "copy out": ("compute",)}
    one = model["in_turns"](3, 1)
    three = [(stage, chunk, stages.index(stage), [(each, chunk) for each in waits[stage]]) for stage, chunk, *_ in one]
    expected = {}
    for orders, places in ((one, [49]), (three, [170, 252, 334])):
        for (stage, chunk, stream, _), row in zip(orders, model["schedule"](orders, took), strict=True):
            expected[f"{stage} {chunk}", places[stream]] = (row["start_seconds"], row["seconds"])
    boxes = [[float(each.get(key, 0)) for key in ("x", "y", "width", "height")] for each in picture.iter(f"{SVG}rect")]
    drawn = {}
    for words, x, y in texts(picture):
        for left, above, width, height in boxes:
            if left + width / 2 == x and above < y < above + height < above + 100:
                drawn[words, x] = ((above - 5 - top) / unit, (height + 10) / unit)
    assert drawn == expected
    events = {(x0, x1, (y0 - top) / unit) for x0, y0, x1, y1 in arrows(picture) if y0 == y1}
    over = {place: sum(times) for place, times in expected.items()}
    assert events == {(170, 252, over[f"copy in {chunk}", 170]) for chunk in range(3)} | {
        (252, 334, over[f"compute {chunk}", 252]) for chunk in range(3)
    }


def test_strips_are_drawn_as_they_are_cut() -> None:
    picture = ElementTree.fromstring(FILES["strips_of_a_plate_light.svg"])
    held = sorted((y, words) for words, x, y in texts(picture) if x == 264 and words.startswith("row"))
    expected, names = [], {}
    for rank in range(3):
        rows, own, sides = cluster.with_halos(rank, 3, 12), cluster.own_rows(rank, 3, 12), cluster.sides(rank, 3)
        edges = {rows[side.edge] for side in sides}
        for row in rows:
            kind = ", edge" if row in edges else "" if row in own else ", halo"
            names[rank, row] = len(expected)
            expected.append(f"row {row}{kind}")
    assert [words for _, words in held] == expected
    place = {y - 4.5: number for number, (y, _) in enumerate(held)}
    sent = {(place[y0], place[y1]) for _, y0, _, y1 in arrows(picture) if y0 != y1}
    assert sent == {
        (names[side.peer, row], names[rank, row])
        for rank in range(3)
        for side in cluster.sides(rank, 3)
        for row in [cluster.with_halos(rank, 3, 12)[side.halo]]
    }


def test_a_step_is_drawn_in_the_order_in_which_it_is_taken() -> None:
    taken: dict[str, list[str]] = {"link": [], "main": []}
    now = ["main"]

    class Event:
        def __init__(self, name: str) -> None:
            self.name = name

        def record(self, stream: Any) -> None:
            taken[stream.name].append(self.name)

    class Stream(nullcontext):
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> None:
            now.append(self.name)

        def wait_event(self, event: Event) -> None:
            taken[self.name].append(f"waits for {event.name}")

    class Plate:
        def __getitem__(self, rows: Any) -> "Plate":
            return self

        def __setitem__(self, row: int, values: Any) -> None:
            taken[now[-1]].append("Edges copied")

    plate, sides = Plate(), cluster.sides(1, 3)
    for side in sides:
        side.fresh = [0, 0, 0]
    strip = cluster.Strip(
        launch=lambda u, v: taken[now[-1]].append("Rows between" if v is plate else "Edges"),
        exchange=lambda pairs, stream: taken[stream.name].append("Halos travel"),
        sides=sides,
        main=Stream("main"),
        link=Stream("link"),
        done=Event("done"),
        ready=Event("ready"),
    )
    for _ in range(2):
        cluster.step_while_exchanging(strip, plate, plate)
    picture = ElementTree.fromstring(FILES["step_of_a_strip_light.svg"])
    labels = {y - 4.5: words for words, _, y in texts(picture) if words in ("ready", "done")}
    places = texts(picture) + [(f"waits for {labels[y0]}", x1, y1) for _, y0, x1, y1 in arrows(picture)]
    for name, first, middle in (("link", 1, 95), ("main", 0, 285)):
        steps = [words for words, _ in itertools.groupby(taken[name])][first : first + 4]
        column = sorted((y, words) for words, x, y in places if abs(x - middle) < 90)
        assert [words for _, words in column if words in steps] == steps


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
