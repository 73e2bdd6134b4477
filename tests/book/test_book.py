"""The book of this clone, in a browser: every lesson has its page, which asks nobody for anything."""

from pathlib import Path

import pytest
from browser import Browser
from typer.main import get_command

from fourways import cli, lesson

pytestmark = pytest.mark.long  # to build the book takes most of a minute
AXE = Path(__file__).with_name("flaws.js").read_text(encoding="utf-8")
PRINTED = Path(__file__).with_name("printed.js").read_text(encoding="utf-8")
"""Of a page in print: closed folds, code that the paper cuts off, and parts that only a screen needs."""


def test_every_lesson_is_a_page_and_every_command_has_a_section(real: Path) -> None:
    for found in lesson.all_lessons():
        assert found.title.split(":")[0] in (real / "lessons" / f"{found.slug}.html").read_text()
    page = (real / "commands.html").read_text()
    for name, command in get_command(cli.app).commands.items():
        assert f'id="fourways-{name}"' in page
        assert [one.opts for one in command.params if one.param_type_name == "option" and one.opts[0] not in page] == []


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("time a kernel", "06"),
        ("ship", "13"),
        ("which way for me", "14"),
        ("nvcc not found", "Troubleshooting"),
        ("race", "Two races"),
        ("how do I find a race condition in my kernel", "Two races"),
        ("my nvcc is not found, what should I do?", "Troubleshooting"),
        ("how do I measure how long my kernel takes", "06"),
        ("why is my first call so slow", "06"),
        ("ship a wheel with the compiled kernel to users without nvcc", "13"),
    ],
)
def test_a_search_answers_within_two_hits(browser: Browser, real: Path, asked: str, answer: str) -> None:
    browser.open(real / "search.html")
    browser.run(f"Search.performSearch({asked!r})")
    hits = "const hits = [...document.querySelectorAll('#search-results li > a')].slice(0, 2)"
    found = browser.wait(f"{hits}; return hits.length == 2 && hits.map(link => link.innerText)")
    assert any(title.startswith(answer) for title in found), found


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("dark", [True, False])
def test_no_page_asks_for_anything_outside_or_complains(browser: Browser, real: Path, width: int, dark: bool) -> None:
    pages = sorted(path for path in real.rglob("*.html") if "_static" not in path.parts)
    assert len(pages) > len(lesson.all_lessons()) + 10
    for path in pages:
        assert (path, browser.open(path, width, dark)) == (path, [])
        assert browser.run("return document.documentElement.dataset.theme") == ("dark" if dark else "light")
        wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0, f"{path.name} is wider than a window of {width}"


def test_pages_print_open_and_without_what_only_a_screen_needs(browser: Browser, real: Path) -> None:
    for path in sorted(real.glob("lessons/*.html")):
        browser.open(path, width=720)
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        browser.run("dispatchEvent(new Event('beforeprint'))")
        closed, cut, screen = browser.run(PRINTED)
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        assert (path.name, closed, cut, screen) == (path.name, [], [], [])


@pytest.fixture
def axe(root: Path) -> str:
    """The script axe-core."""
    script = root / "build" / "axe" / "axe_playwright_python" / "axe.min.js"
    if not script.is_file():
        pytest.skip("axe-core is not here: `make build/axe` fetches it")
    return script.read_text(encoding="utf-8")


def flaws(browser: Browser, axe: str, pages: list[Path]) -> list[tuple[str, ...]]:
    """Every serious flaw of the pages, with all folds open. Colours are judged in the light and in the dark."""
    browser.driver.set_script_timeout(300)
    flaws, kinds = [], []
    for path in pages:
        browser.open(path)
        browser.run(axe)
        found, kinds = browser.driver.execute_async_script(AXE, kinds)
        flaws += [(path.name, *flaw) for flaw in found]
    return flaws


def test_axe_finds_nothing_serious(browser: Browser, axe: str, real: Path) -> None:
    assert flaws(browser, axe, sorted(path for path in real.rglob("*.html") if "_static" not in path.parts)) == []


def test_the_kernel_runs_in_the_page(browser: Browser, real: Path) -> None:
    """Lesson 04: a reader with a keyboard adds padding, then takes the tile away."""
    browser.open(real / "lessons" / "04_transpose.html", 390)
    said = "return document.querySelector('.explorable [role=status]').textContent"
    assert "8 sectors; a copy touches 8. Shared memory: 33 turns" in browser.run(said)
    browser.run("document.querySelector('.explorable [name=pad]:checked').focus()")
    browser.press("\ue014")  # arrow to the right
    assert "Shared memory: 2 turns" in browser.run(said) and "answer is right" in browser.run(said)
    browser.run("document.querySelector('.explorable [name=tile]:checked').focus()")
    browser.press("\ue012\ue012")  # twice to the left: 16, which wants a narrower block, then no tile
    assert browser.run("return document.querySelector('.explorable [name=columns]:checked').value") == "16"
    assert "20 sectors; a copy touches 8. The" in browser.run(said)
    plain = (real / "lessons" / "04_transpose.html").read_text()
    assert "banks_of_a_tile_light.svg" in plain and "Try it" not in plain, "without JavaScript the figure stays alone"
    assert "access_pattern.js" in plain
    assert "access_pattern.js" not in (real / "lessons" / "05_stencil.html").read_text()
