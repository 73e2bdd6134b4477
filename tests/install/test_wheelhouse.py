"""A folder of wheels for a machine without network; pip is a stand-in that downloads nothing."""

import sys
from pathlib import Path
from typing import Any

import pytest
from layouts import Pip
from packaging.utils import canonicalize_name

from fourways import install
from fourways.install import DESK_TOOLS, InstallError


@pytest.fixture
def python(monkeypatch: pytest.MonkeyPatch) -> str:
    """This interpreter; whether it has its C headers is not the question here."""
    monkeypatch.setattr(install, "find_python", Path)
    return sys.executable


def names(wheels: list[Path]) -> set[str]:
    return {canonicalize_name(wheel.name.split("-")[0]) for wheel in wheels}


def gather(folder: Path, python: str, **options: Any) -> list[Path]:
    return install.wheelhouse(folder, python=python, log=lambda _: None, **options)


def test_wheelhouse_for_a_bare_machine(pip: Pip, python: str, tmp_path: Path) -> None:
    """All that the locks hold for this Python, and PyCUDA, a version of each, without the tools of the desk."""
    wheels = gather(tmp_path / "new" / "wheels", python)
    assert names(wheels) >= {"nvidia-cuda-nvcc", "jedi", "mako", "pycuda", "jupyter-book", "pytest"}
    assert names(wheels).isdisjoint(DESK_TOOLS)
    assert len(names(wheels)) == len(wheels) and wheels == sorted((tmp_path / "new" / "wheels").iterdir())
    download, build = pip.calls()
    assert {"--require-hashes", "--no-deps", "--only-binary"} <= set(download["words"])
    assert download["words"][:2] == build["words"][:2] == ["--python", python]


def test_wheelhouse_leaves_out_what_is_there(pip: Pip, python: str, tmp_path: Path) -> None:
    """As `pip freeze` prints it, and as people write it; what names no package of the lock leaves out none."""
    everything = names(gather(tmp_path / "all", python))
    freeze = ["CuPy_CUDA13x==14.2.0", "numpy @ file:///numpy", "cuda-core[cu13]>=1.2  # was cuda-core==0.1", "PyCUDA"]
    freeze += ["-e git+https://example.com/jinja2#egg=jinja2", "# matplotlib==3.10", "", "jinja", "--hash=sha256:aa"]
    left = names(gather(tmp_path / "some", python, have=[*freeze, " nvidia-*\n"]))
    gone = {"cupy-cuda13x", "numpy", "cuda-core", "pycuda"}
    assert everything - left == gone | {each for each in everything if each.startswith("nvidia-")}
    assert left < everything
    assert [call["words"][2] for call in pip.calls()] == ["download", "wheel", "download"]


def test_a_machine_without_nvcc_gets_the_toolkit_whole(pip: Pip, python: str, tmp_path: Path) -> None:
    """PyTorch brings a part of it, which has no nvcc."""
    carried = names(gather(tmp_path / "part", python, have=["nvidia-cuda-runtime==13.0.96"]))
    assert {"nvidia-cuda-runtime", "nvidia-cuda-nvcc"} <= carried
    carried = names(gather(tmp_path / "nvcc", python, have=["nvidia-cuda-runtime==13.0.96", "nvidia-cuda-nvcc"]))
    assert carried.isdisjoint({"nvidia-cuda-runtime", "nvidia-cuda-nvcc"})


def test_wheelhouse_is_whole_or_not_there(pip: Pip, python: str, tmp_path: Path) -> None:
    pip.then("sys.exit('error: no network')")
    with pytest.raises(InstallError, match="no network") as failure:
        gather(tmp_path / "wheels", python)
    assert list(tmp_path.iterdir()) == []
    Path(str(failure.value).split("all of it: ")[1].split(")")[0]).unlink()


def test_wheelhouse_keeps_other_peoples_files(pip: Pip, python: str, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("42")
    with pytest.raises(InstallError, match="not empty"):
        gather(tmp_path, python)
    with pytest.raises(InstallError, match="not empty"):
        gather(tmp_path / "thesis.tex", python)
    assert (tmp_path / "thesis.tex").read_text() == "42" and pip.calls() == []
