"""The book: today's text with outputs recorded from today's code, no others; nothing fetched from elsewhere."""

import hashlib
import json
import logging
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
from browser import Browser
from typer.main import get_command

from fourways import book, cli, figures, lesson, tables, ways
from fourways.book.build import render
from fourways.book.merge import BookError, merge, readable
from fourways.book.release import BROWSERS

STAMP = {"device": "NVIDIA T1000", "driver": "580.1", "nvcc": "13.0.88", "nvrtc": "13.0", "date": "2026-11-21T10:00:00"}
COMMANDS = get_command(cli.app)
SIGNS = {"00_fresh": "output-of-fresh", "01_stale": "output-of-stale"}

LESSON = """\
---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
fourways:
  kernel: doublify
  question: What is it?
  opens: pycuda
  ways: [nvrtc]
  without: {{}}
---

# The {slug} lesson

Prose with a picture and {{cite}}`nvrtc`.

```{{image}} ../book/figures/edit_loop_jit_light.svg
:alt: a loop
:class: only-light
```

See also the [glossary](../book/glossary.md).

A `block` is in a [grid](../book/glossary.md). In the same way, **threads** have blocks; a block has a *shared
memory*. Grids have blocks.

**NVRTC** is a library.

```{{code-cell}} python
:tags: [way-nvrtc]
def doublify_nvrtc(x, y):
    pass
```

**PyCUDA** needs nvcc.

```{{code-cell}} python
:tags: [way-pycuda]
def doublify_pycuda(x, y):
    pass
```

```{{code-cell}} python
:tags: [solution]
answer = "in a solution cell"
```

+++ {{"tags": ["solution"]}}

The answer in words.

+++

:::{{admonition}} Predict
:class: predict
What is printed?

- a warp
- the slug
:::

```{{code-cell}} python
print("{slug}")
```

:::{{dropdown}} Answer
The slug, for the cell asks for it.
:::

```{{code-cell}} python
:tags: [wrong]
answer = "given by many"
```

+++

## Deeper: below

What goes deeper.

+++

## Above

The end.
"""


def write_lesson(clone: Path, slug: str) -> Path:
    path = clone / "lessons" / f"{slug}.md"
    path.write_text(LESSON.format(slug=slug))
    return path


def record(path: Path, sign: str, code_cells: int = 4) -> Path:
    """A recording of a lesson as it stands, `sign` in its outputs of each kind."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("") for _ in range(code_cells)])
    bundle = {"text/plain": sign, "text/html": f"<p>{sign} html</p>", tables.MIME: {"table": "own-data", "rows": []}}
    notebook.cells[-1].outputs = [
        nbformat.v4.new_output("stream", text=f"{sign} text\n"),
        nbformat.v4.new_output("display_data", data=bundle),
    ]
    notebook.metadata["fourways"] = {"stamp": STAMP | {"sources": book.fingerprint(lesson.Lesson(path))}}
    recording = path.parents[1] / "book" / "recorded" / f"{path.stem}.ipynb"
    recording.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, recording)
    return recording


def empty_clone(root: Path, folder: Path) -> Path:
    """A clone with the real book and kernels, and no lesson."""
    for part in ("cpp", "book"):
        shutil.copytree(root / part, folder / part, ignore=shutil.ignore_patterns("recorded", "results"))
    (folder / "lessons").mkdir()
    for text in (folder / "book").glob("*.md"):
        text.write_text(re.sub(r"\[.*\]\(lessons/.*\)", "", text.read_text()))
    return folder


def needs_jupyter_book() -> None:
    if find_spec("jupyter_book") is None:
        pytest.skip("Jupyter Book is not installed in this Python")


@pytest.fixture
def clone(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one recorded lesson, `00_fresh`."""
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    record(write_lesson(empty_clone(root, tmp_path), "00_fresh"), SIGNS["00_fresh"])
    return tmp_path


@pytest.fixture(scope="module")
def built(root: Path, made_once: Callable[..., Path]) -> dict[str, Any]:
    """A book of three lessons: recorded, changed since, never recorded. Its folder, and what the build logged."""
    needs_jupyter_book()
    made = made_once("three-lessons", lambda folder: build_three_lessons(root, folder))
    messages = json.loads((made / "messages.json").read_text())
    return {"folder": made / "clone" / "build" / "book", "messages": messages}


def build_three_lessons(root: Path, made: Path) -> None:
    """Build the book of three lessons in the folder `clone`, and keep what the build logs."""
    folder = empty_clone(root, made / "clone")
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda entry: messages.append(entry.getMessage())  # type: ignore[method-assign]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOURWAYS_ROOT", str(folder))
        for slug, sign in SIGNS.items():
            record(write_lesson(folder, slug), sign)
        stale = folder / "lessons" / "01_stale.md"
        stale.write_text(stale.read_text().replace("    pass", "    return"))
        write_lesson(folder, "02_new")
        logging.getLogger("fourways").addHandler(handler)
        index = book.build(COMMANDS)
        logging.getLogger("fourways").removeHandler(handler)
    assert index == folder / "build" / "book" / "index.html"
    (made / "messages.json").write_text(json.dumps(messages))


def page(built: dict[str, Any], slug: str) -> str:
    return (built["folder"] / "lessons" / f"{slug}.html").read_text()


def test_recorded_outputs_are_in_the_book_and_say_where_they_come_from(built: dict[str, Any]) -> None:
    html = page(built, "00_fresh")
    assert f"{SIGNS['00_fresh']} text" in html and f"{SIGNS['00_fresh']} html" in html
    provenance = html[html.index("provenance") :][:400]
    for fact in ("NVIDIA T1000", "driver 580.1", "nvcc 13.0.88", "NVRTC 13.0", "2026-11-21"):
        assert fact in provenance
    assert "This page shows no outputs" not in html


def test_a_lesson_is_offered_as_notebook_and_script(built: dict[str, Any]) -> None:
    for ending in (".ipynb", ".py"):
        assert f'href="00_fresh{ending}"' in page(built, "00_fresh")
        assert (built["folder"] / "lessons" / f"00_fresh{ending}").is_file()
    assert "_sources" not in page(built, "00_fresh"), "it has the solutions, and what Jupyter cannot show"
    assert "colab" not in page(built, "00_fresh").lower(), "no address, no link"


def test_stale_outputs_are_not_and_the_page_says_what_changed(built: dict[str, Any]) -> None:
    html = page(built, "01_stale")
    assert "This page shows no outputs. Changed since the recording on 2026-11-21: its code cells." in html
    assert "warning admonition" in html and ">--record<" in html
    files = [file for file in built["folder"].rglob("*") if file.is_file()]
    assert not [file for file in files if SIGNS["01_stale"].encode() in file.read_bytes()]
    assert [file for file in files if SIGNS["00_fresh"].encode() in file.read_bytes()]


def test_a_lesson_never_recorded_says_so(built: dict[str, Any]) -> None:
    assert "This page shows no outputs. It has not been recorded on a GPU yet." in page(built, "02_new")
    assert [message.split(":")[0] for message in built["messages"]] == ["01_stale", "02_new"]


def test_our_own_data_does_not_reach_the_book(built: dict[str, Any]) -> None:
    for file in built["folder"].rglob("*"):
        if file.suffix in (".html", ".ipynb", ".js"):
            text = file.read_text()
            assert "own-data" not in text and tables.MIME not in text


def test_solutions_fold_away(built: dict[str, Any]) -> None:
    html = page(built, "00_fresh")
    for solution in ("in a solution cell", "The answer in words."):
        before = html[: html.index(solution)]
        assert before.count("<details") == before.count("</details") + 1
    assert html.count("<details") == 2 + len(["output", "answer", "deeper"])


def test_only_the_pages_hold_solutions(built: dict[str, Any]) -> None:
    """Neither a download nor a copy of a page's source holds them."""
    assert (built["folder"] / "_sources" / "index.md").is_file()
    for solution in ("in a solution cell", "The answer in words."):
        files = [
            path for path in built["folder"].rglob("*") if path.is_file() and solution.encode() in path.read_bytes()
        ]
        assert files and {path.suffix for path in files} == {".html"}


def test_the_cells_of_a_way_have_its_colour_and_name(built: dict[str, Any]) -> None:
    assert "tag_way-nvrtc" in page(built, "00_fresh") and "ways.css" in page(built, "00_fresh")
    styles = (built["folder"] / "_static" / "ways.css").read_text()
    for way in ways.WAYS:
        assert f":is(.tag_way-{way}, .way-{way}) {{ --way: {figures.COLOURS[way]}; }}" in styles


def test_the_list_of_lessons_is_made_from_their_front_matter(built: dict[str, Any]) -> None:
    index = (built["folder"] / "index.html").read_text()
    assert 'href="lessons/00_fresh.html"' in index
    cards = index.partition('id="the-lessons"')[2].split("sd-card-body")[1:]
    plain = [" ".join(re.sub("<[^>]+>", " ", card).split()) for card in cards]
    assert len(plain) == 3
    assert re.search(r"00 · The 00_fresh lesson What is it\? \d+ min", plain[0])
    assert "02 · The 02_new lesson" in plain[2]
    assert "edit_loop_jit_light.svg" in cards[0], "its drawing"
    assert lesson.FORMULA.partition('"')[0] in index


def test_what_goes_deeper_is_folded_and_no_wrong_answer_is_shown(built: dict[str, Any]) -> None:
    html = page(built, "00_fresh")
    folded = html.partition('<details class="deeper"><summary>')[2].partition("</details>")[0]
    assert (
        re.search(r"<h2>Deeper: below.*</summary>\s*<p>What goes deeper", folded, re.DOTALL) and "Above" not in folded
    )
    assert "given by many" not in html


def test_a_choice_opens_the_answer_and_the_output(built: dict[str, Any], browser: Browser) -> None:
    browser.open(built["folder"] / "lessons" / "00_fresh.html")
    is_open = "return [...document.querySelectorAll('details:not(.deeper)')].slice(1).map(fold => fold.open)"
    assert browser.run(is_open) == [False, False, False], "solution in words, output, answer"
    assert browser.run("return [...document.querySelectorAll('.predict button')].map(b => b.innerText)") == [
        "a warp",
        "the slug",
    ]
    browser.run("document.querySelectorAll('.predict button')[0].click()")
    assert set(browser.run(is_open)) == {False, True} and browser.run(is_open).count(True) == 2
    pressed = "return [...document.querySelectorAll('.predict button')].map(b => b.getAttribute('aria-pressed'))"
    assert browser.run(pressed) == ["true", "false"]
    verdict = "return document.querySelector('.predict [role=status]').innerText"
    assert browser.run(verdict) == "✗ Not this one."
    browser.run("document.querySelectorAll('.predict button')[1].click()")
    assert browser.run(verdict) == "✓ Right."
    assert browser.run("return document.querySelectorAll('.predict > details').length") == 1, "the answer is in the box"


def test_ways_are_tabs_whose_choice_the_next_page_keeps(built: dict[str, Any], browser: Browser) -> None:
    pages = [built["folder"] / "lessons" / f"{slug}.html" for slug in ("00_fresh", "02_new")]
    shown = "return [...document.querySelectorAll('.ways > .sd-tab-content')].map(e => e.checkVisibility())"
    browser.open(pages[0])
    assert browser.run("return [...document.querySelectorAll('.ways > label')].map(e => e.innerText)") == [
        "NVRTC",
        "PyCUDA",
    ]
    assert browser.run(shown) == [False, True], "the one that the lesson opens"
    introduced = "return [...document.querySelectorAll('.ways > .sd-tab-content > p')].map(e => e.textContent)"
    assert browser.run(introduced) == ["NVRTC is a library.", "PyCUDA needs nvcc."]
    browser.run("document.querySelectorAll('.ways > label')[0].click()")
    assert browser.run(shown) == [True, False]
    browser.driver.get(pages[1].as_uri())
    assert browser.run(shown) == [True, False]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.run(shown) == [True, True]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_first_use_of_a_term_in_plain_text_links_to_the_glossary(built: dict[str, Any]) -> None:
    html = page(built, "00_fresh")
    linked = re.findall(r'href="../glossary.html#(term-[\w-]+)"[^>]*><span class="glossary-term">([^<]+)<', html)
    assert linked == [
        ("term-block", "blocks"),
        ("term-shared-memory", "shared\nmemory"),
        ("term-grid", "Grids"),
        ("term-nvcc", "nvcc"),
    ], "no code, link, bold word, other sense of a way, second use, or choice of a question"
    definitions = json.loads(html.partition("const GLOSSARY = ")[2].partition(";</script>")[0])
    assert set(definitions) == {term for term, _ in linked}
    assert "glossary-term" not in (built["folder"] / "glossary.html").read_text()


TERM = "a:has(> .glossary-term)"
DEFINITIONS = "return [...document.querySelectorAll('.definition:popover-open')].map(e => e.innerText)"
BLOCK = "Threads that run on the same multiprocessor. They can share memory and wait for each other."


def test_a_definition_shows_on_hover_and_focus_until_escape(built: dict[str, Any], browser: Browser) -> None:
    browser.open(built["folder"] / "lessons" / "00_fresh.html")
    browser.hover(TERM)
    assert browser.run(DEFINITIONS) == [BLOCK]
    browser.press("\ue00c")  # Escape
    assert browser.run(DEFINITIONS) == []
    browser.run(f"document.querySelector('{TERM}').focus({{focusVisible: true}})")
    assert browser.run(DEFINITIONS) == [BLOCK]
    described = "return document.getElementById(document.activeElement.getAttribute('aria-describedby')).innerText"
    assert browser.run(described) == BLOCK
    browser.press("\ue004")  # Tab
    assert BLOCK not in browser.run(DEFINITIONS)


def test_a_tap_shows_a_definition_and_a_second_tap_follows_the_link(built: dict[str, Any], browser: Browser) -> None:
    page = built["folder"] / "lessons" / "00_fresh.html"
    browser.open(page, 390)
    browser.tap(TERM)
    assert browser.run(DEFINITIONS) == [BLOCK] and browser.driver.current_url == page.as_uri()
    browser.tap(TERM)
    assert browser.driver.current_url == (built["folder"] / "glossary.html").as_uri() + "#term-block"


def test_two_ways_stand_side_by_side_on_each_page_until_switched_off(built: dict[str, Any], browser: Browser) -> None:
    browser.open(built["folder"] / "lessons" / "00_fresh.html")
    tabs = "return document.querySelector('.ways').checkVisibility()"
    columns = "return [...document.querySelectorAll('.two-ways > pre')].map(e => [e.ariaLabel, e.textContent])"
    texts = {way: f"def doublify_{way.lower()}(x, y):\n    pass\n" for way in ("NVRTC", "PyCUDA")}
    assert browser.run(tabs) and browser.run(columns) == []
    browser.run("document.querySelector('.side-by-side button').focus()")
    browser.press("\ue007")  # Enter
    assert not browser.run(tabs)
    assert browser.run(columns) == [[way, text] for way, text in texts.items()]
    marked = "return [...document.querySelectorAll('.two-ways mark')].map(e => e.textContent)"
    assert browser.run(marked) == [text.splitlines(keepends=True)[0] for text in texts.values()]
    status = "return document.querySelector('.side-by-side [role=status]').innerText"
    assert browser.run(status) == "Lines that differ: 1 of 2 in NVRTC, 1 of 2 in PyCUDA."
    places = "return [...document.querySelectorAll('.two-ways > pre')].map(e => [e.offsetLeft > 300, e.offsetTop])"
    assert [place[0] for place in browser.run(places)] == [False, True], "on a wide page, beside each other"
    browser.run("document.querySelector('.side-by-side select').focus()")
    browser.press("PyCUDA")  # the way on the other side: the two change places
    assert [column[0] for column in browser.run(columns)] == ["PyCUDA", "NVRTC"]
    for _ in range(20):  # Chromium writes its storage a moment later
        browser.driver.get((built["folder"] / "lessons" / "02_new.html").as_uri())
        if browser.run(columns):
            break
    assert [column[0] for column in browser.run(columns)] == ["PyCUDA", "NVRTC"], "the choice is kept"
    tab = "document.querySelector('.ways > .sd-tab-content')"
    browser.run(f"{tab}.id = 'there'; location.hash = 'there'")
    browser.wait(f"return {tab}.checkVisibility()", 5)  # an address that leads into a tab
    browser.run("document.querySelector('.side-by-side button').click()")
    assert [column[0] for column in browser.run(columns)] == ["PyCUDA", "NVRTC"] and not browser.run(tabs)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.run(tabs), "paper shows the tabs"
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.run("document.querySelector('.side-by-side button').click()")
    assert browser.run(tabs) and not browser.run("return document.querySelector('.two-ways').checkVisibility()")


def test_pictures_and_links_of_a_lesson_resolve(built: dict[str, Any]) -> None:
    html = page(built, "00_fresh")
    assert 'src="../_images/edit_loop_jit_light.svg"' in html and 'href="../glossary.html"' in html
    assert (built["folder"] / "_images" / "edit_loop_jit_light.svg").is_file()


def test_a_change_of_code_makes_the_outputs_stale(clone: Path) -> None:
    recording = clone / "book" / "recorded" / "00_fresh.ipynb"
    assert merge(lesson.find("00"), recording).stale == ""
    for file in ("cpp/kernels/doublify.cuh", "cpp/aot/doublify.cu"):
        (clone / file).write_text((clone / file).read_text() + "// changed\n")
    merged = merge(lesson.find("00"), recording)
    assert merged.stale == "Changed since the recording on 2026-11-21: its kernel and its binding."
    assert not any(cell.get("outputs") for cell in merged.notebook.cells)


def test_prose_may_change_without_a_new_recording(clone: Path) -> None:
    path = clone / "lessons" / "00_fresh.md"
    path.write_text(path.read_text().replace("Prose with", "Better prose with"))
    merged = merge(lesson.find("00"), clone / "book" / "recorded" / "00_fresh.ipynb")
    assert merged.stale == ""
    assert "Better prose" in merged.notebook.cells[0].source and [
        cell for cell in merged.notebook.cells if cell.get("outputs")
    ]


def test_a_drawing_that_waits_for_a_prediction_folds_once(clone: Path) -> None:
    path, recording = clone / "lessons" / "00_fresh.md", clone / "book" / "recorded" / "00_fresh.ipynb"
    cell = '```{code-cell} python\nprint("00_fresh")'
    assert cell in path.read_text()
    path.write_text(path.read_text().replace(cell, cell.replace("python", "python\n:tags: [hide-input]")))
    (folded,) = [each for each in merge(lesson.find("00"), recording).notebook.cells if "print(" in each.source]
    assert {"hide-input", "hide-output", "hide-cell"} & set(folded.metadata["tags"]) == {"hide-cell"}


def test_a_lesson_whose_names_alone_changed_shows_its_outputs_and_says_so(clone: Path) -> None:
    path, recording = clone / "lessons" / "00_fresh.md", clone / "book" / "recorded" / "00_fresh.ipynb"
    cells = json.loads(recording.read_text())["metadata"]["fourways"]["stamp"]["sources"]["cells"]
    path.write_text(
        path.read_text()
        .replace("fourways:\n", f"fourways:\n  renamed_since: {cells}\n", 1)
        .replace("    pass", "    return")
    )
    merged = merge(lesson.find("00"), recording)
    assert merged.stale == "" and [cell for cell in merged.notebook.cells if cell.get("outputs")]
    assert "names in the code changed since" in merged.notebook.cells[0].source


def test_a_recording_that_does_not_fit_its_own_stamp_is_refused(clone: Path) -> None:
    recording = record(clone / "lessons" / "00_fresh.md", "sign", code_cells=2)
    with pytest.raises(BookError, match="holds 2 code cells, the lesson has 4"):
        merge(lesson.find("00"), recording)


SVG = '<svg><text style="font-size: 9px" transform="translate(1 2)">my words</text></svg>'


@pytest.fixture
def with_own_gpu(clone: Path) -> Path:
    """The recording of `00_fresh` on another GPU, with a text as on the book's, a table, and a figure."""
    recording = clone / "book" / "recorded" / "00_fresh.ipynb"
    notebook = nbformat.read(recording, 4)
    notebook.metadata["fourways"]["stamp"] |= {"device": "My GPU", "date": "2026-12-01T00:00:00"}
    table = tables.Table("own-data", [{"n": 7}])._repr_mimebundle_()
    new = [nbformat.v4.new_output("display_data", data=data) for data in (table, {"image/svg+xml": SVG})]
    notebook.cells[-1].outputs = [notebook.cells[-1].outputs[0], *new]
    notebook.cells[0].outputs = [nbformat.v4.new_output("stream", text="Skipped: no torch here\n")]
    own = recording.parent / "my-gpu" / recording.name
    own.parent.mkdir()
    nbformat.write(notebook, own)
    return own


def test_the_readers_own_gpu_stands_below_the_books(clone: Path, with_own_gpu: Path) -> None:
    merged = merge(lesson.find("00"), with_own_gpu.parents[1] / with_own_gpu.name)
    code = [cell for cell in merged.notebook.cells if cell.cell_type == "code"]
    (cell,) = [cell for cell in code if cell.outputs]
    shown, own = json.dumps(cell.outputs[:-1]), cell.outputs[-1].data["text/html"]
    assert SIGNS["00_fresh"] in shown and "My GPU" not in shown
    assert own.startswith('<div class="own-gpu"><p>On My GPU, 2026-12-01:</p><table class="fourways">')
    assert (
        '<td class="number">' not in own
        and '<th scope="row">7</th>' in own
        and f'alt="{figures.description(SVG)}"' in own
    )
    assert SIGNS["00_fresh"] not in own and "Skipped" not in own, "only what differs"
    assert (
        "NVIDIA T1000" in merged.notebook.cells[0].source
        and "those of My GPU, 2026-12-01" in merged.notebook.cells[0].source
    )


def test_a_stale_recording_of_the_readers_gpu_is_left_out(clone: Path, with_own_gpu: Path) -> None:
    text = with_own_gpu.read_text()
    with_own_gpu.write_text(re.sub(r'("cells": )"\w{64}"', r'\1"0"', text))
    assert with_own_gpu.read_text() != text
    merged = merge(lesson.find("00"), with_own_gpu.parents[1] / with_own_gpu.name)
    assert not merged.stale and "My GPU" not in nbformat.writes(merged.notebook)


def test_all_flaws_are_reported_and_the_old_book_stays(clone: Path) -> None:
    needs_jupyter_book()
    old = clone / "build" / "book" / "index.html"
    old.parent.mkdir(parents=True)
    old.write_text("the old book")
    path = clone / "lessons" / "00_fresh.md"
    text = path.read_text().replace(":alt: a loop\n", "")
    path.write_text(text.replace("{cite}`nvrtc`", "{cite}`no-such-source`"))
    with pytest.raises(BookError, match=r"lessons/00_fresh\.ipynb.*WARNING.*no-such-source") as error:
        book.build(COMMANDS)
    blank = r"no alternative text.*\n(.*\n)*lessons/00_fresh\.html: <img .*jit_light"
    assert re.search(blank, str(error.value))
    assert str(clone) not in str(error.value)
    assert old.read_text() == "the old book"
    assert [path.name for path in old.parents[1].iterdir()] == ["book"]


def test_a_tables_rows_have_heads_and_its_numbers_a_class() -> None:
    rows = [{"way": "nvrtc", "seconds": 2e-6}, {"way": "1 block", "seconds": None}]
    columns = [("way", lambda row: row["way"]), ("median", lambda row: tables.seconds(row["seconds"]))]
    html = readable(tables.Table("times", rows, columns)._repr_mimebundle_()["text/html"])
    assert html.count('<th scope="col">') == 2 and '<tr><th scope="row">1 block</th><td></td></tr>' in html
    assert '<th scope="row">nvrtc</th><td class="number">2.00 µs</td>' in html
    assert readable(f"<td>{'a' * 31}</td>") == f"<td>{'a' * 31}</td>"
    assert readable(f"<td>{'a' * 32}</td>").startswith('<td class="words">'), "long cells wrap"
    assert readable(f"<td>32-byte {'a' * 32}</td>").startswith('<td class="words">'), "a sentence is no number"


def test_an_image_without_alternative_text_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        page = Path(command[command.index("--path-output") + 1], "_build", "html", "index.html")
        page.parent.mkdir(parents=True)
        page.write_text('<img alt="a loop" src="_images/a.svg"><img alt="_images/b.svg" src="_images/b.svg">')
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(BookError, match=r"^These images have no alternative text.*\nindex\.html: <img .*b\.svg\">$"):
        render(tmp_path / "source", tmp_path / "output")


@pytest.mark.parametrize("other", ["none", "version 2"])
def test_without_jupyter_book_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str) -> None:
    monkeypatch.setitem(sys.modules, "jupyter_book", None)
    if other == "version 2":
        (tmp_path / "jupyter_book").mkdir()
        (tmp_path / "jupyter_book" / "__init__.py").touch()
        monkeypatch.delitem(sys.modules, "jupyter_book")
        monkeypatch.delitem(sys.modules, "jupyter_book.cli", raising=False)
        monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BookError, match="Jupyter Book 1 is not installed.*make setup"):
        book.build(COMMANDS)


@pytest.mark.long
def test_a_release(clone: Path) -> None:
    needs_jupyter_book()
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("no Chromium here: apt-get install chromium")
    *files, sums = sorted(book.release(COMMANDS), key=lambda path: path.name == "SHA256SUMS")
    assert [path.suffix for path in files] == [".epub", ".pdf", ".zip"]
    assert sums.read_text() == "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files
    )
    epub, pdf, archive = files
    assert pdf.read_bytes().startswith(b"%PDF-")
    with zipfile.ZipFile(archive) as pages:
        assert f"{archive.stem}/index.html" in pages.namelist()
    with zipfile.ZipFile(epub) as pages:
        names = pages.namelist()
        assert names[0] == "mimetype"
        for name in names:
            if name.endswith((".xhtml", ".opf", ".svg")):
                ElementTree.fromstring(pages.read(name))
        listed = re.findall(r'<item [^>]*href="([^"]+)"', pages.read("content.opf").decode())
        assert set(listed) <= set(names)
