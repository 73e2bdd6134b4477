"""A notebook's cell that needs what is missing says so, and does not fail; where it is there, the cell runs."""

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from fourways import toolchain


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


def test_what_can_run_runs(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run_cell("%%needs gpu\nleft = 1\n%time right = 2\nleft + right").result == 3
    assert "Wall time" in capsys.readouterr().out, "magics work below it"
    assert isinstance(shell.run_cell("%%needs gpu\n1 / 0").error_in_exec, ZeroDivisionError)


def test_other_cells_are_left_alone(shell: Any) -> None:
    assert shell.run_cell("shown = '''\n%%needs pycuda\n'''\nlen(shown)").result == 16
    assert shell.run_cell("").success
