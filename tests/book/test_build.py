"""The book: today's text, each cell with the outputs recorded of it, no others; nothing fetched from elsewhere."""

import json
import logging
import re
import shutil
import sys
from collections.abc import Callable
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
import pytest
from typer.main import get_command

from fourways import book, cli, lesson, tables
from fourways.book.merge import BookError, merge

STAMP = {"device": "NVIDIA T1000", "driver": "580.1", "nvcc": "13.0.88", "nvrtc": "13.0", "date": "2026-11-21T10:00:00"}
COMMANDS = get_command(cli.app)
NOT_RECORDED = "<em>Not recorded.</em>"
SIGNS = {"00_fresh": "output-of-fresh", "01_edited": "output-of-edited"}

LESSON = Path(__file__).with_name("lesson.md").read_text(encoding="utf-8")
"""With SLUG for its name."""


PRINTS = '```{code-cell} python\nprint("00_fresh")'


def write_lesson(clone: Path, slug: str) -> Path:
    path = clone / "lessons" / f"{slug}.md"
    path.write_text(LESSON.replace("SLUG", slug))
    return path


def record(path: Path, sign: str) -> Path:
    """A recording of a lesson as it stands, `sign` in its last cell's outputs of each kind."""
    target = lesson.Lesson(path)
    notebook = deepcopy(target.notebook)
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    bundle = {"text/plain": sign, "text/html": f"<p>{sign} html</p>", tables.MIME: {"table": "own-data", "rows": []}}
    notebook.cells[-1].outputs = [
        nbformat.v4.new_output("stream", text=f"{sign} text\n"),
        nbformat.v4.new_output("display_data", data=bundle),
    ]
    notebook.metadata["fourways"] = {"stamp": STAMP | {"kernels": lesson.kernel_hashes(target)}}
    recording = path.parents[1] / "book" / "recorded" / f"{path.stem}.ipynb"
    recording.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, recording)
    return recording


def empty_clone(root: Path, folder: Path) -> Path:
    """A clone with the real book and kernels, and no lesson."""
    for part in ("cpp", "book"):
        shutil.copytree(root / part, folder / part, ignore=shutil.ignore_patterns("recorded"))
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
    """A book of three lessons: recorded, edited since, never recorded. Its folder, and what the build logged."""
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
        edited = folder / "lessons" / "01_edited.md"
        edited.write_text(edited.read_text().replace("    pass", "    return", 1))
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
    for fact in (
        "NVIDIA T1000",
        "driver 580.1",
        "nvcc 13.0.88",
        "NVRTC 13.0",
        "2026-11-21".replace("-", "\N{NON-BREAKING HYPHEN}"),
    ):
        assert fact in provenance
    assert NOT_RECORDED not in html


def test_an_edited_cell_is_not_recorded_and_the_others_keep_their_outputs(built: dict[str, Any]) -> None:
    html = page(built, "01_edited")
    before, edited, after = re.split("(?=tag_way-nvrtc)|(?=tag_way-pycuda)", html)
    assert NOT_RECORDED in edited and NOT_RECORDED not in before + after
    assert f"{SIGNS['01_edited']} text" in after and "NVIDIA T1000" in before


def test_a_lesson_never_recorded_says_so_at_each_cell(built: dict[str, Any]) -> None:
    assert page(built, "02_new").count(NOT_RECORDED) == 4 and "Outputs recorded" not in page(built, "02_new")
    assert built["messages"] == [
        "01_edited: cells that are not recorded: 1. On a GPU: fourways run 01 --record",
        "02_new: cells that are not recorded: 4. On a GPU: fourways run 02 --record",
    ]


def test_solutions_fold_away(built: dict[str, Any]) -> None:
    html = page(built, "00_fresh")
    for solution in ("in a solution cell", "The answer in words."):
        before = html[: html.index(solution)]
        assert before.count("<details") == before.count("</details") + 1
    assert html.count("<details") == 2 + len(["deeper", "More"])


def test_only_the_pages_hold_solutions(built: dict[str, Any]) -> None:
    """Neither a download nor a copy of a page's source holds them, and nothing holds the rows behind tables."""
    files = {path: path.read_bytes() for path in built["folder"].rglob("*") if path.is_file()}
    for solution in (b"in a solution cell", b"The answer in words."):
        assert {path.suffix for path, text in files.items() if solution in text} == {".html"}
    assert not [path for path, text in files.items() if b"own-data" in text]
    assert (built["folder"] / "lessons" / "00_fresh.ipynb").is_file()
    assert 'href="00_fresh.ipynb"' in page(built, "00_fresh") and "_sources" not in page(built, "00_fresh")


def test_the_list_of_lessons_is_made_from_their_front_matter(built: dict[str, Any]) -> None:
    index = (built["folder"] / "index.html").read_text()
    assert 'href="lessons/00_fresh.html"' in index
    rows = [" ".join(re.sub("<[^>]+>", " ", row.partition("</tr>")[0]).split()) for row in index.split("<tr")]
    assert [row.partition("> ")[2] for row in rows if "What is it?" in row] == [
        f"{slug[:2]} · The {slug} lesson What is it? 12 + 3" for slug in ("00_fresh", "01_edited", "02_new")
    ]


def test_what_goes_deeper_is_folded_and_no_wrong_answer_is_shown(built: dict[str, Any]) -> None:
    html = page(built, "00_fresh")
    folded = html.partition('<details class="deeper"><summary>')[2].partition("</details>")[0]
    assert (
        re.search(r"<h2>Deeper: below.*</summary>\s*<p>What goes deeper", folded, re.DOTALL) and "Above" not in folded
    )
    assert "given by many" not in html


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


@pytest.mark.parametrize("file", ["cpp/kernels/doublify.cuh", "cpp/aot/doublify.cu"])
def test_outputs_of_another_kernel_are_not_shown(clone: Path, file: str) -> None:
    """But those of a cell that needs the host alone, and no line stands where nothing was printed."""
    (clone / file).write_text((clone / file).read_text() + "// changed\n")
    target, recording = lesson.find("00"), clone / "book" / "recorded" / "00_fresh.ipynb"
    assert lesson.unrecorded(target) == ['print("00_fresh"): Not recorded with today\'s kernel.']
    (line,) = [cell.outputs for cell in merge(target, recording).cells if "print(" in cell.source]
    assert line[0].data["text/plain"] == "Not recorded with today's kernel."
    path = clone / "lessons" / "00_fresh.md"
    path.write_text(path.read_text().replace(PRINTS, PRINTS.replace("python", "python\n:tags: [needs-host]")))
    assert lesson.unrecorded(lesson.find("00")) == []


def test_all_flaws_are_reported_and_the_old_book_stays(clone: Path) -> None:
    needs_jupyter_book()
    old = clone / "build" / "book" / "index.html"
    old.parent.mkdir(parents=True)
    old.write_text("the old book")
    path = clone / "lessons" / "00_fresh.md"
    path.write_text(path.read_text().replace("{cite}`nvrtc`", "{cite}`no-such-source`"))
    with pytest.raises(BookError, match=r"lessons/00_fresh\.ipynb.*WARNING.*no-such-source") as error:
        book.build(COMMANDS)
    assert str(clone) not in str(error.value)
    assert old.read_text() == "the old book"
    assert [path.name for path in old.parents[1].iterdir()] == ["book"]


def test_without_jupyter_book_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jupyter_book", None)
    with pytest.raises(BookError, match="Jupyter Book 1 is not installed.*make setup"):
        book.build(COMMANDS)
