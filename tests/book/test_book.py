"""The book of this clone, in a browser: every lesson and command has its page, which asks nobody for anything."""

import json
import re
from pathlib import Path

import pytest
from browser import Browser, browser  # noqa: F401 (a fixture)

from fourways import lesson
from fourways.book.commands import COMMANDS

AXE = """
const done = arguments[arguments.length - 1], serious = ["serious", "critical"], flaws = []
for (const fold of document.querySelectorAll("details")) fold.open = true
const still = "<style>* { transition: none !important; animation: none !important }</style>"
document.head.insertAdjacentHTML("beforeend", still)
async function judge(theme, rules) {
  document.documentElement.dataset.theme = theme
  const { violations } = await axe.run({ resultTypes: ["violations"], ...rules })
  for (const rule of violations.filter(rule => serious.includes(rule.impact)))
    for (const node of rule.nodes) flaws.push([theme, rule.id, node.html.slice(0, 200)])
}
judge("light", {}).then(() => judge("dark", { runOnly: ["color-contrast"] })).then(() => done(flaws))
"""
"""Calls back with the serious and critical flaws of a page that has loaded axe-core: theme, rule, element."""

PRINTED = """
const shown = (selector) => [...document.querySelectorAll(selector)].filter(element => element.checkVisibility())
return [
  [...document.querySelectorAll("details:not([open])")].map(fold => fold.textContent.slice(0, 80)),
  shown("article pre").filter(code => code.scrollWidth > code.clientWidth + 1).map(code => code.textContent),
  shown(".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-area").map(part => part.className),
]
"""
"""Of a page in print: closed folds, code that the paper cuts off, and parts that only a screen needs."""


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
        (375, True),
        pytest.param(1280, False, marks=pytest.mark.long),
        pytest.param(1280, True, marks=pytest.mark.long),
        pytest.param(375, False, marks=pytest.mark.long),
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


@pytest.mark.long
def test_pages_print_open_and_without_what_only_a_screen_needs(browser: Browser, real: Path) -> None:  # noqa: F811
    for path in sorted(real.glob("lessons/*.html")):
        browser.open(path, width=720)
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        browser.run("dispatchEvent(new Event('beforeprint'))")
        closed, cut, screen = browser.run(PRINTED)
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        assert (path.name, closed, cut, screen) == (path.name, [], [], [])


@pytest.mark.long
def test_axe_finds_nothing_serious(browser: Browser, root: Path, real: Path) -> None:  # noqa: F811
    """axe-core's rules on each page with all folds open. Colours are judged in the light and in the dark."""
    axe = root / "build" / "axe" / "axe_playwright_python" / "axe.min.js"
    if not axe.is_file():
        pytest.skip("axe-core is not here: `make build/axe` fetches it")
    browser.driver.set_script_timeout(300)
    flaws = []
    for path in sorted(path for path in real.rglob("*.html") if "_static" not in path.parts):
        browser.open(path)
        browser.run(axe.read_text(encoding="utf-8"))
        flaws += [(path.name, *flaw) for flaw in browser.driver.execute_async_script(AXE)]
    assert flaws == []


def test_search_finds_a_word(browser: Browser, real: Path) -> None:  # noqa: F811
    browser.open(real / "search.html")
    browser.driver.get((real / "search.html").as_uri() + "?q=transpose")
    browser.wait("return document.querySelectorAll('#search-results li a').length > 0")
    found = browser.run("return [...document.querySelectorAll('#search-results li a')].map(link => link.href)")
    assert [link for link in found if "/lessons/04_transpose.html" in link]


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
