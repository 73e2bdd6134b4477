"""A notebook's cell that needs what is missing says so, and does not fail; where it is there, the cell runs."""

import re
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

from fourways import kernels, lesson, toolchain


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """IPython as in Jupyter, on a machine with a GPU and without PyCUDA."""
    monkeypatch.setattr(toolchain, "missing", lambda need: "PyCUDA is not installed" if need == "pycuda" else None)
    found = InteractiveShell.instance()
    found.run_line_magic("load_ext", "fourways.lesson")
    yield found
    InteractiveShell.clear_instance()


def test_what_is_missing_is_said(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    done = shell.run_cell("%%needs gpu pycuda\nimport pycuda.driver\nleft = 1")
    assert done.success and "left" not in shell.user_ns
    assert capsys.readouterr().out == "Skipped: PyCUDA is not installed\n"


def recorded_cell(slug: str) -> tuple[str, str]:
    """The code and the printed text of a recorded cell that needs more than Python."""
    notebook = nbformat.read(kernels.root() / "book" / "recorded" / f"{slug}.ipynb", 4)
    cells = [cell for cell in notebook.cells if "gpu" in lesson.tags(cell) and cell.outputs]
    return next((cell.source, cell.outputs[0].text) for cell in cells if cell.outputs[0].output_type == "stream")


def test_a_skipped_cell_shows_what_was_recorded(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = recorded_cell("01_doublify")
    assert shell.run_cell(f"%%needs pycuda  # recorded in 01_doublify\n{code}").success
    shown = capsys.readouterr().out
    assert re.match(r"Skipped: PyCUDA is not installed\nRecorded on NVIDIA [^,]+, \d{4}-\d\d-\d\d\b", shown)
    assert shown.endswith(printed)
    shell.run_cell(f"%%needs pycuda  # recorded in 01_doublify\n{code}\nmine = 1")
    shown = capsys.readouterr().out
    assert "This cell has changed since it was recorded on NVIDIA " in shown and printed not in shown


def test_what_can_run_runs(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run_cell("%%needs gpu\nleft = 1\n%time right = 2\nleft + right").result == 3
    assert "Wall time" in capsys.readouterr().out, "magics work below it"
    assert isinstance(shell.run_cell("%%needs gpu\n1 / 0").error_in_exec, ZeroDivisionError)


def test_other_cells_are_left_alone(shell: Any) -> None:
    assert shell.run_cell("shown = '''\n%%needs pycuda\n'''\nlen(shown)").result == 16
    assert shell.run_cell("").success
