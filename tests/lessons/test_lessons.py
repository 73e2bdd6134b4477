"""Every lesson has the agreed shape and runs, and what is recorded of it fits what it says today."""

import ast
import builtins
import dataclasses
import re
from typing import Any

import cell_python
import prose_numbers
import pytest

from fourways import kernels, lesson, toolchain, ways

LESSONS = lesson.all_lessons()


@pytest.fixture(params=LESSONS, ids=lambda target: target.slug)
def target(request: pytest.FixtureRequest) -> lesson.Lesson:
    return request.param


def prose(target: lesson.Lesson) -> str:
    return "\n\n".join(cell.source for cell in target.notebook.cells if cell.cell_type == "markdown")


def codes(notebook: Any) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def test_front_matter(target: lesson.Lesson) -> None:
    meta = target.meta
    assert meta["kernel"] in kernels.names()
    assert set(meta["ways"]) | set(meta["without"]) == set(ways.WAYS), "every way is there, or under `without`"
    assert not set(meta["ways"]) & set(meta["without"])
    assert all(reason for reason in meta["without"].values()), "a way that is missing has a reason"


def test_every_way_defines_its_one_function(target: lesson.Lesson) -> None:
    for way in ways.WAYS:
        cells = target.cells(f"way-{way}")
        assert len(cells) == (way in target.meta["ways"]), way
        for source in cells:
            functions = re.findall(rf"^def (\w+_(?:{'|'.join(ways.WAYS)}))\((.*)\):", source, re.MULTILINE)
            assert [name for name, _ in functions] == [f"{target.meta['kernel']}_{way}"]
    signatures = {
        signature
        for way in target.meta["ways"]
        for source in target.cells(f"way-{way}")
        for signature in re.findall(rf"^def {target.meta['kernel']}_{way}\((.*)\):", source, re.MULTILINE)
    }
    assert len(signatures) == 1, "all ways have the same signature"


def test_the_kernel_shown_is_the_file(target: lesson.Lesson) -> None:
    assert f"```cuda\n{kernels.source(target.meta['kernel'])}```" in prose(target)


@pytest.mark.parametrize("page", lesson.lessons_and_pages(), ids=lambda page: page.slug)
def test_numbers_in_prose_stand_in_the_outputs(page: lesson.Lesson) -> None:
    outputs = [output for cell in lesson.outputs(page) for output in cell]
    assert prose_numbers.unsupported(page.path.read_text("utf-8"), outputs, codes(page.notebook)) == []


def test_exercises_have_hints_and_wrong_answers(target: lesson.Lesson) -> None:
    kinds = {"exercise": "e", "wrong": "w", "solution": "s"}
    order = ""
    for cell in target.whole.cells:
        order += "".join(kinds.get(tag, "") for tag in lesson.tags(cell) if cell.cell_type == "code")
        if cell.cell_type == "markdown":
            order += "h" * len(re.findall(r"^:{3,}\{dropdown\} Hint", cell.source, re.MULTILINE))
    assert re.fullmatch("(eh{1,2}w{2,}s){2,}", order), order


@pytest.mark.parametrize("page", lesson.lessons_and_pages(), ids=lambda page: page.slug)
def test_each_cell_is_recorded_with_todays_kernels(page: lesson.Lesson) -> None:
    """If not: `make record` on a GPU. A recording knows a cell by its source, so no two cells are alike."""
    cells = lesson.unrecorded(page)
    assert not cells, "\n".join(cells)
    assert len(set(codes(page.notebook))) == len(codes(page.notebook))


def test_recorded_runs_name_no_place_of_the_machine() -> None:
    files = list((kernels.root() / "book" / "recorded").glob("*.ipynb"))
    assert files
    for path in files:
        text = path.read_text().replace("/usr/local/cuda", "")  # where NVIDIA's installers put the toolkit, anywhere
        found_places = re.findall(r"(?<![\w.~…])/(?:home|root|work|opt|usr|var)/\S{0,40}", text)
        assert not found_places, path.name


def test_recorded_runs_hold_no_error_and_no_skipped_cell() -> None:
    for path in (kernels.root() / "book" / "recorded").glob("*.ipynb"):
        text = path.read_text()
        may_skip = lesson.find(path.stem).meta.get("may_skip", ())
        reasons = re.findall(r'"Skipped: (.*?)\\n"', text)
        assert '"output_type": "error"' not in text and len(reasons) == text.count('"Skipped: '), path.name
        assert all(any(package.replace("_", "-") in why for package in may_skip) for why in reasons), path.name


@pytest.mark.parametrize("absent", ["gpu", "deeper", *ways.WAYS])
def test_a_cell_that_runs_needs_no_cell_that_is_skipped(
    target: lesson.Lesson, absent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one way (or the GPU) is missing, its cells are skipped and all others still find their names.

    Nor does the core need a cell of a section that goes deeper, which is folded away.
    """
    without = {"gpu", "two-gpus"} if absent == "gpu" else {absent}
    monkeypatch.setattr(toolchain, "missing", lambda need: f"no {need}" if need in without else None)
    if absent in ways.WAYS:
        monkeypatch.setitem(ways.WAYS, absent, dataclasses.replace(ways.WAYS[absent], needs=("another machine",)))
        monkeypatch.setattr(toolchain, "missing", lambda need: "not here" if need == "another machine" else None)
    there, gone = {*dir(builtins), "get_ipython"}, set()
    for cell, is_deeper in zip(target.notebook.cells, lesson.deeper(target.notebook), strict=True):
        if cell.cell_type == "code":
            tree = list(ast.walk(cell_python.tree(cell.source)))
            names = [node for node in tree if isinstance(node, ast.Name)]
            stored = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
            for node in tree:
                if isinstance(node, ast.FunctionDef):
                    stored |= {node.name, *(argument.arg for argument in node.args.args)}
                elif isinstance(node, ast.Lambda):
                    stored |= {argument.arg for argument in node.args.args}
                elif isinstance(node, ast.Import | ast.ImportFrom):
                    stored |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ExceptHandler) and node.name:
                    stored.add(node.name)
            if lesson.skip_reason(cell) or (is_deeper and absent == "deeper"):
                gone |= stored - there
            else:
                there |= stored
                used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
                assert not used & (gone - there), f"without {absent}, this cell fails:\n{cell.source}"


LONG = {"00", "01", "03", "04", "05", "08", "09", "12", "13", "caches_and_storms", "textures", "two_races"}
LONG |= {"which_precision", "without_our_helpers", "your_own_kernel"}
"""The lessons and pages whose cells build modules, link, or run programs for long: `make test-all` runs them."""
PAGES = lesson.lessons_and_pages()


@pytest.mark.skipif(not toolchain.missing("gpu"), reason="a GPU is here: tests/gpu/test_lessons.py runs all cells")
@pytest.mark.parametrize(
    "target",
    [pytest.param(each, marks=[pytest.mark.long] if each.number in LONG else [], id=each.slug) for each in PAGES],
    indirect=True,
)
def test_it_runs_as_far_as_this_machine_can(target: lesson.Lesson) -> None:
    result = lesson.run_all([target])[0]
    assert result.outcome == "passed", result.error
    cells = sum(cell.cell_type == "code" for cell in target.notebook.cells)
    assert result.ran + sum(result.skipped.values()) == cells, "each cell runs, or is skipped with a reason"
    wanted = [cell for cell in target.notebook.cells if cell.cell_type == "code" and not lesson.skip_reason(cell)]
    assert result.ran == len(wanted) > 0
    said = "".join(output.get("text", "") for cell in result.notebook.cells for output in cell.get("outputs", ()))
    assert "it defines no function" not in said, "a command refused the page's case"
