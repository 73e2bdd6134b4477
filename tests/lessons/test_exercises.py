"""Each judge of an exercise on the answers of its page: an untouched one, those that people give, the solution.

In this process, with what the answers need of the page: its set-up, imports, functions and texts, and the cells that
are tagged `prepares`. `test_lessons.py` runs lessons whole, in Jupyter.
"""

import ast
import contextlib
import io
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import cell_python
import pytest
from IPython.core.interactiveshell import InteractiveShell

from fourways import lesson

KINDS = {"exercise", "wrong", "solution"}
PAGES = [page for page in lesson.lessons_and_pages() if page.cells("solution")]
LONG = {"00_two_workflows", "caches_and_storms"}  # modules that CMake builds; eight processes


def is_text(value: ast.expr) -> bool:
    """Return whether an expression only joins texts, or replaces parts of them."""
    calls = [node.func for node in ast.walk(value) if isinstance(node, ast.Call)]
    joined = isinstance(value, ast.Constant | ast.BinOp) or bool(calls)
    return joined and all(isinstance(call, ast.Attribute) and call.attr == "replace" for call in calls)


def prepare(source: str, names: dict[str, Any]) -> None:
    """Execute a cell's imports, functions and texts, as far as they need nothing else."""
    for node in cell_python.tree(source).body:
        kept = isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef)
        if kept or (isinstance(node, ast.Assign) and is_text(node.value)):
            with contextlib.suppress(ImportError, NameError):
                exec(compile(ast.Module([node], []), "<cell>", "exec"), names)


@pytest.mark.parametrize(
    "page", [pytest.param(each, marks=[pytest.mark.long] if each.slug in LONG else [], id=each.slug) for each in PAGES]
)
def test_answers_are_judged(page: lesson.Lesson, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but the solution are told "Not yet: ", each in other words; the solution is right."""
    monkeypatch.chdir(root / "lessons")
    shell = InteractiveShell(user_module=ModuleType("page"))
    monkeypatch.delitem(sys.modules, "page")  # so that functions travel to other processes by their text
    names: dict[str, Any] = shell.user_ns
    told: list[str] = []
    skipped: list[str] = []
    for cell in page.whole.cells:
        tags = set(lesson.tags(cell))
        if cell.cell_type != "code":
            continue
        if reason := lesson.skip_reason(cell):
            skipped += [reason] * bool(tags & KINDS)
        elif "prepares" in tags:
            shell.run_cell(cell.source).raise_error()
        elif not tags & KINDS:
            exec(cell.source, names) if "setup" in tags else prepare(cell.source, names)
        else:
            for _ in range(12):  # cases by lot may show two answers the same way: then once more
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(cell.source, names)
                said = (printed.getvalue().splitlines() or [""])[-1]
                assert said.startswith("Right" if "solution" in tags else "Not yet: "), f"{cell.source}\n{said}"
                if said not in told:
                    break
            by_lot = page.slug == "caches_and_storms"  # processes may meet in one way or in another
            assert "solution" in tags or said not in told or by_lot, "words that lead on from this very answer"
            told.append(said)
    if not told:
        pytest.skip(skipped[0])
