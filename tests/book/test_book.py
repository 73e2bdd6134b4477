"""The book of this clone, in a browser: every lesson and command has its page, which asks nobody for anything."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from browser import Browser, browser  # noqa: F401 (a fixture)
from typer.main import get_command

from fourways import book, cli, lesson
from fourways.book.commands import COMMANDS


@pytest.fixture(scope="module")
def real(made_once: Callable[..., Path]) -> Path:
    """The folder of the built book."""
    pytest.importorskip("jupyter_book")
    return made_once("real", lambda folder: book.build(book.pages(get_command(cli.app)), folder / "book")) / "book"


def test_every_lesson_and_every_command_is_a_page(real: Path) -> None:
    for found in lesson.all_lessons():
        assert found.title.split(":")[0] in (real / "lessons" / f"{found.slug}.html").read_text()
    for command in COMMANDS:
        assert f"fourways {command.name}" in (real / "commands" / f"{command.name}.html").read_text()


def test_a_copys_skipped_cells_name_sections_of_the_book(real: Path, tmp_path: Path) -> None:
    named = set()
    for path in lesson.export(lesson.all_lessons(), tmp_path):
        named |= set(re.findall(r"%%needs [^#]+# in the book: (\w+\.html)#([\w-]+)", path.read_text()))
    assert len(named) > len(lesson.all_lessons())
    assert [place for place in named if f'id="{place[1]}"' not in (real / "lessons" / place[0]).read_text()] == []


@pytest.mark.parametrize(
    ("width", "dark"),
    [
        (390, True),
        pytest.param(1280, False, marks=pytest.mark.long),
        pytest.param(1280, True, marks=pytest.mark.long),
        pytest.param(390, False, marks=pytest.mark.long),
    ],
)
def test_no_page_asks_for_anything_outside_or_complains(
    browser: Browser,  # noqa: F811
    real: Path,
    width: int,
    dark: bool,
) -> None:
    pages = [path for path in real.rglob("*.html") if "_static" not in path.parts]
    assert len(pages) > len(lesson.all_lessons()) + len(COMMANDS)
    for path in pages:
        assert (path, browser.open(path, width, dark)) == (path, [])
        assert browser.run("return document.documentElement.dataset.theme") == ("dark" if dark else "light")
        wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0, f"{path.name} is wider than a window of {width}"


def test_every_definition_is_there_and_the_glossary_is_sorted(real: Path) -> None:
    for path in real.rglob("*.html"):
        html = path.read_text()
        linked = set(re.findall(r'glossary\.html#(term-[^"]+)"[^>]*><span class="glossary-term"', html))
        if linked:
            assert set(json.loads(html.partition("const GLOSSARY = ")[2].partition(";</script>")[0])) == linked
    terms = re.findall(r'<dt id="term-[^"]+">([^<]+)', (real / "glossary.html").read_text())
    assert len(terms) == len({term.lower() for term in terms}), "each term stands there once"
    assert terms[0] == "ABI" and terms[-1] == "wheel"


def test_ways_stand_side_by_side_also_on_the_first_page_and_where_a_chosen_way_lacks(
    browser: Browser,  # noqa: F811
    real: Path,
) -> None:
    columns = "return [...document.querySelectorAll('.two-ways > pre')].map(e => [e.ariaLabel, e.textContent.trim()])"
    browser.open(real / "index.html")
    browser.run("document.querySelector('.side-by-side button').click()")
    browser.run("document.querySelector('.side-by-side select').focus()")
    browser.press("PyCUDA")
    assert [way for way, code in browser.run(columns) if code] == ["PyCUDA", "pybind11"]
    browser.driver.get((real / "lessons" / "12_more_ways.html").as_uri())
    assert [way for way, code in browser.run(columns) if code] == ["NVRTC", "pybind11"]


def test_drawings_follow_the_theme(browser: Browser, real: Path) -> None:  # noqa: F811
    shown = "return [...document.querySelectorAll('article img.only-light')].map(image => image.offsetHeight > 0)"
    for dark in (False, True):
        browser.open(real / "lessons" / "00_two_workflows.html", dark=dark)
        assert set(browser.run(shown)) == {not dark}


def test_an_outside_request_and_an_error_would_be_seen(browser: Browser, tmp_path: Path) -> None:  # noqa: F811
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://127.0.0.1:9/x.png"><script>throw new Error("planted")</script>')
    found = json.dumps(browser.open(bad))
    assert "asked for http://127.0.0.1:9/x.png" in found and "planted" in found
