"""The book of this clone, in a browser: every lesson and command has its page, which asks nobody for anything."""

import json
import re
from pathlib import Path

import pytest
from browser import Browser, browser  # noqa: F401 (a fixture)

from fourways import lesson
from fourways.book.commands import COMMANDS


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
