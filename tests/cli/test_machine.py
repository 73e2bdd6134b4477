"""The commands on this machine: the doctor, PyCUDA's installation, the folder of wheels."""

from pathlib import Path

import pytest
from commands import fourways

from fourways import doctor, install, toolchain


def test_doctor() -> None:
    shown = fourways("doctor")
    assert "nvcc" in shown.stdout and shown.exit_code == (0 if doctor.diagnose().lessons_can_run else 1)


def test_pycuda_is_left_out_where_there_is_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda need: f"no {need} here")
    done = fourways("install-pycuda", "--if-driver")
    assert (done.exit_code, done.stderr) == (0, "PyCUDA is left out: no gpu here\n")


def test_pycuda_is_installed_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda need: None)
    monkeypatch.setattr(install, "install_pycuda", lambda log: log("building PyCUDA"))
    assert fourways("install-pycuda", "--if-driver").stderr == "building PyCUDA\n"


def test_a_folder_of_wheels_must_be_new(tmp_path: Path) -> None:
    (tmp_path / "old.whl").touch()
    done = fourways("wheelhouse", tmp_path)
    assert isinstance(done.exception, RuntimeError) and "not empty" in str(done.exception)


def test_a_folder_of_wheels_leaves_out_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {}
    monkeypatch.setattr(install, "wheelhouse", lambda folder, **options: given.update(options, folder=folder))
    (tmp_path / "freeze.txt").write_text("numpy==2.5.2\nnvidia-*\n")
    done = fourways("wheelhouse", tmp_path / "wheels", "--python", "3.13", "--have", tmp_path / "freeze.txt")
    assert done.exit_code == 0
    assert (given["folder"], given["python"]) == (tmp_path / "wheels", "3.13")
    assert given["have"] == ["numpy==2.5.2", "nvidia-*"]
