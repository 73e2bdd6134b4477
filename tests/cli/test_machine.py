"""The commands on this machine: the doctor, PyCUDA's installation, the folder of wheels."""

from pathlib import Path

import pytest
from commands import fourways

from fourways import doctor, toolchain


def test_doctor() -> None:
    shown = fourways("doctor")
    assert "nvcc" in shown.stdout and shown.exit_code == (0 if doctor.diagnose().lessons_can_run else 1)


def test_pycuda_is_left_out_where_there_is_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda need: f"no {need} here")
    done = fourways("install-pycuda", "--if-driver")
    assert (done.exit_code, done.stderr) == (0, "PyCUDA is left out: no gpu here\n")


def test_a_folder_of_wheels_must_be_new(tmp_path: Path) -> None:
    (tmp_path / "old.whl").touch()
    done = fourways("wheelhouse", tmp_path)
    assert isinstance(done.exception, RuntimeError) and "not empty" in str(done.exception)
