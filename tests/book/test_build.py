"""The book: today's text with outputs recorded from today's code, no others; nothing fetched from elsewhere."""

import json
import logging
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
import pytest
from browser import Browser
from typer.main import get_command

from fourways import book, cli, figures, lesson, tables, ways
from fourways.book.build import render
from fourways.book.merge import BookError, merge, provenance, readable, shown

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
  minutes: 12
  deeper: 3
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
    notebook.metadata["fourways"] = {"stamp": STAMP | {"sources": lesson.fingerprint(lesson.Lesson(path))}}
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


def test_a_lesson_is_offered_as_a_notebook(built: dict[str, Any]) -> None:
    assert 'href="00_fresh.ipynb"' in page(built, "00_fresh")
    assert (built["folder"] / "lessons" / "00_fresh.ipynb").is_file()
    assert "_sources" not in page(built, "00_fresh"), "it has the solutions, and what Jupyter cannot show"


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
    rows = [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in index.split("<tr")]
    assert [row.partition("> ")[2] for row in rows if "What is it?" in row] == [
        f"{slug[:2]} · The {slug} lesson What is it? 12 + 3" for slug in ("00_fresh", "01_stale", "02_new")
    ]


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


def test_a_recording_that_does_not_fit_its_own_stamp_is_refused(clone: Path) -> None:
    recording = record(clone / "lessons" / "00_fresh.md", "sign", code_cells=2)
    with pytest.raises(BookError, match="holds 2 code cells, the lesson has 4"):
        merge(lesson.find("00"), recording)


def test_a_book_of_the_same_sources_is_kept(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[Path] = []

    def fake(source: Path, output: Path) -> Path:
        rendered.append(source)
        (output / "_sources" / "lessons").mkdir(parents=True)
        (output / "lessons").mkdir()
        (output / "index.html").touch()
        return output

    monkeypatch.setitem(book.build.__globals__, "render", fake)
    assert book.build(COMMANDS) == book.build(COMMANDS) and len(rendered) == 1
    path = clone / "lessons" / "00_fresh.md"
    path.write_text(path.read_text() + "\nOne more line.\n")
    book.build(COMMANDS)
    assert len(rendered) == 2
    shutil.rmtree(clone / "build" / "book")
    book.build(COMMANDS)
    assert len(rendered) == 3


def test_a_broken_recording_names_its_file(clone: Path) -> None:
    recording = record(clone / "lessons" / "00_fresh.md", "sign")
    text = recording.read_text()
    whole = json.loads(text)
    stamp = whole["metadata"]["fourways"]["stamp"]
    conflict = text.replace("{", "<<<<<<< HEAD\n{", 1)
    dateless = json.dumps(whole | {"metadata": {"fourways": {"stamp": {**stamp, "date": None}}}})
    listed = json.dumps(whole | {"metadata": {"fourways": ["stamp"]}})
    numbered = json.dumps(whole | {"cells": 3})
    for broken in ("", text[: len(text) // 2], conflict, "[]", "3", dateless, listed, numbered):
        recording.write_text(broken)
        with pytest.raises(BookError, match=rf"{recording.name} is no whole recording \(\w+\): take it from git"):
            merge(lesson.find("00"), recording)
    own = clone / "build" / "lessons" / recording.name
    own.parent.mkdir(parents=True)
    own.write_text(conflict)
    assert shown(lesson.find("00")).parent.name == "recorded"


def test_a_device_is_no_html() -> None:
    assert "<script" not in provenance(STAMP | {"device": "<script>alert(1)</script>"})


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
