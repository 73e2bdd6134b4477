"""The book: today's text with outputs recorded from today's code, no others; nothing fetched from elsewhere."""

import json
import logging
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
import pytest
from browser import Browser, browser  # noqa: F401 (a fixture)

from fourways import book, cli, figures, lesson, reference, tables

STAMP = {"device": "NVIDIA T1000", "driver": "580.1", "nvcc": "13.0.88", "nvrtc": "13.0", "date": "2026-11-21T10:00:00"}
COMMANDS = {"time": "# fourways time\n\nA page on a command.\n"}
SIGNS = {"00_fresh": "output-of-fresh", "01_stale": "output-of-stale"}

LESSON = """\
---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
fourways:
  kernel: doublify
  ways: [nvrtc]
  without: {{}}
  minutes: 17
---

# The {slug} lesson

Prose with a picture and {{cite}}`nvrtc`.

```{{image}} ../book/figures/edit_loop_jit_light.svg
:alt: a loop
:class: only-light
```

See also the [glossary](../book/glossary.md).

```{{code-cell}} python
:tags: [way-nvrtc]
def doublify_nvrtc(x, y):
    pass
```

```{{code-cell}} python
:tags: [solution]
answer = "in a solution cell"
```

+++ {{"tags": ["solution"]}}

The answer in words.

```{{code-cell}} python
print("{slug}")
```
"""


def write_lesson(clone: Path, slug: str) -> Path:
    path = clone / "lessons" / f"{slug}.md"
    path.write_text(LESSON.format(slug=slug))
    return path


def record(path: Path, sign: str, code_cells: int = 3) -> Path:
    """A recording of a lesson as it stands, `sign` in its outputs of each kind."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("") for _ in range(code_cells)])
    bundle = {"text/plain": sign, "text/html": f"<p>{sign} html</p>", tables.MIME: {"table": "own-data", "rows": []}}
    notebook.cells[-1].outputs = [
        nbformat.v4.new_output("stream", text=f"{sign} text\n"),
        nbformat.v4.new_output("display_data", data=bundle),
    ]
    notebook.metadata["fourways"] = {"stamp": STAMP | {"sources": lesson.fingerprint(path)}}
    recording = path.parents[1] / "book" / "recorded" / f"{path.stem}.ipynb"
    recording.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, recording)
    return recording


def empty_clone(root: Path, folder: Path) -> Path:
    """A clone with the real book and kernels, and no lesson."""
    for part in ("cpp", "book"):
        shutil.copytree(root / part, folder / part, ignore=shutil.ignore_patterns("recorded", "results"))
    (folder / "lessons").mkdir()
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
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A book of three lessons: recorded, changed since, never recorded. Its folder, and what the build logged."""
    needs_jupyter_book()
    folder = empty_clone(root, tmp_path_factory.mktemp("clone") / "clone")
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
        book.log.addHandler(handler)
        index = book.build(COMMANDS)
        book.log.removeHandler(handler)
    assert index == folder / "build" / "book" / "index.html"
    return {"folder": index.parent, "messages": messages}


@pytest.fixture(scope="module")
def real(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book of this clone."""
    needs_jupyter_book()
    return book.build(reference.pages(cli.app), tmp_path_factory.mktemp("real") / "book").parent


def page(built: dict[str, Any], slug: str) -> str:
    return (built["folder"] / "lessons" / f"{slug}.html").read_text()


def test_recorded_outputs_are_in_the_book_and_say_where_they_come_from(built: dict[str, Any]) -> None:
    html = page(built, "00_fresh")
    assert f"{SIGNS['00_fresh']} text" in html and f"{SIGNS['00_fresh']} html" in html
    provenance = html[html.index("provenance") :][:400]
    for fact in ("NVIDIA T1000", "driver 580.1", "nvcc 13.0.88", "NVRTC 13.0", "2026-11-21"):
        assert fact in provenance
    assert "This page shows no outputs" not in html


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
    assert html.count("<details") == 2


def test_the_cells_of_a_way_have_its_colour_and_name(built: dict[str, Any]) -> None:
    assert "tag_way-nvrtc" in page(built, "00_fresh") and "ways.css" in page(built, "00_fresh")
    styles = (built["folder"] / "_static" / "ways.css").read_text()
    for way in lesson.WAYS:
        rule = f'.tag_way-{way} {{ --way: {figures.COLOURS[way]}; --way-name: "{book.WAY_NAMES[way]}"; }}'
        assert rule in styles


def test_the_list_of_lessons_is_made_from_their_front_matter(built: dict[str, Any]) -> None:
    index = (built["folder"] / "index.html").read_text()
    assert 'href="lessons/00_fresh.html"' in index and "The 00_fresh lesson" in index and "<p>17</p>" in index
    assert index.count("NVIDIA T1000") == 1 and index.count("not yet") == 2


def test_pictures_and_links_of_a_lesson_resolve(built: dict[str, Any]) -> None:
    html = page(built, "00_fresh")
    assert 'src="../_images/edit_loop_jit_light.svg"' in html and 'href="../glossary.html"' in html
    assert (built["folder"] / "_images" / "edit_loop_jit_light.svg").is_file()


@pytest.mark.parametrize(
    ("file", "old", "new", "part"),
    [
        ("lessons/00_fresh.md", "    pass", "    ...", "its code cells"),
        ("cpp/kernels/doublify.cuh", "FACTOR * x[i]", "x[i] * FACTOR", "its kernel"),
        ("cpp/aot/doublify.cu", "#include", "\n#include", "its binding"),
    ],
)
def test_any_change_of_code_makes_the_outputs_stale(clone: Path, file: str, old: str, new: str, part: str) -> None:
    recording = clone / "book" / "recorded" / "00_fresh.ipynb"
    assert book.merge(lesson.find("00"), recording).stale == ""
    path = clone / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    merged = book.merge(lesson.find("00"), recording)
    assert merged.stale == f"Changed since the recording on 2026-11-21: {part}."
    assert not any(cell.get("outputs") for cell in merged.notebook.cells)


def test_prose_may_change_without_a_new_recording(clone: Path) -> None:
    path = clone / "lessons" / "00_fresh.md"
    path.write_text(path.read_text().replace("Prose with", "Better prose with"))
    merged = book.merge(lesson.find("00"), clone / "book" / "recorded" / "00_fresh.ipynb")
    assert merged.stale == ""
    assert "Better prose" in merged.notebook.cells[0].source and merged.notebook.cells[-1].outputs


def test_a_recording_that_does_not_fit_its_own_stamp_is_refused(clone: Path) -> None:
    recording = record(clone / "lessons" / "00_fresh.md", "sign", code_cells=2)
    with pytest.raises(book.BookError, match="holds 2 code cells, the lesson has 3"):
        book.merge(lesson.find("00"), recording)


def test_a_flaw_is_reported_and_the_old_book_stays(clone: Path) -> None:
    needs_jupyter_book()
    old = clone / "build" / "book" / "index.html"
    old.parent.mkdir(parents=True)
    old.write_text("the old book")
    path = clone / "lessons" / "00_fresh.md"
    path.write_text(path.read_text().replace("{cite}`nvrtc`", "{cite}`no-such-source`"))
    with pytest.raises(book.BookError, match=r"lessons/00_fresh\.ipynb.*WARNING.*no-such-source") as error:
        book.build(COMMANDS)
    assert str(clone) not in str(error.value)
    assert old.read_text() == "the old book"
    assert [path.name for path in old.parents[1].iterdir()] == ["book"]


def test_without_jupyter_book_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "find_spec", lambda name: None)
    with pytest.raises(book.BookError, match="make setup"):
        book.build(COMMANDS)


def test_every_command_is_a_page_of_the_book(built: dict[str, Any], real: Path) -> None:
    assert "A page on a command." in (built["folder"] / "commands" / "time.html").read_text()
    for command in reference.COMMANDS:
        assert f"fourways {command.name}" in (real / "commands" / f"{command.name}.html").read_text()


def test_every_lesson_of_this_clone_is_a_page_of_its_book(real: Path) -> None:
    for found in lesson.all_lessons():
        assert found.title.split(":")[0] in (real / "lessons" / f"{found.slug}.html").read_text()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_no_page_asks_for_anything_outside_or_complains(
    browser: Browser,  # noqa: F811
    built: dict[str, Any],
    real: Path,
    width: int,
    dark: bool,
) -> None:
    pages = [
        path for folder in (real, built["folder"]) for path in folder.rglob("*.html") if "_static" not in path.parts
    ]
    assert len(pages) >= 12
    for path in pages:
        assert (path, browser.open(path, width, dark)) == (path, [])
        assert browser.run("return document.documentElement.dataset.theme") == ("dark" if dark else "light")
        wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0, f"{path.name} is wider than a window of {width}"


def test_drawings_follow_the_theme(browser: Browser, built: dict[str, Any]) -> None:  # noqa: F811
    shown = "return [...document.querySelectorAll('article img.only-light')].map(image => image.offsetHeight > 0)"
    for dark in (False, True):
        browser.open(built["folder"] / "lessons" / "00_fresh.html", dark=dark)
        assert browser.run(shown) == [not dark]


def test_an_outside_request_and_an_error_would_be_seen(browser: Browser, tmp_path: Path) -> None:  # noqa: F811
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://127.0.0.1:9/x.png"><script>throw new Error("planted")</script>')
    found = json.dumps(browser.open(bad))
    assert "asked for http://127.0.0.1:9/x.png" in found and "planted" in found
