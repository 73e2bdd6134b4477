"""A folder of wheels for a machine without network; pip is a stand-in that downloads nothing."""

import sys
import tomllib
from pathlib import Path
from typing import Any

import layouts
import pytest
from layouts import Pip
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from fourways import install
from fourways.install.pip import InstallError
from fourways.install.wheelhouse import DESK_TOOLS, read_lock


@pytest.fixture
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter with its C headers; whether this one has them is not the question here."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return str(layouts.script(tmp_path_factory.mktemp("python") / "python", f"echo {version} True"))


def names(wheels: list[Path]) -> set[str]:
    return {canonicalize_name(wheel.name.split("-")[0]) for wheel in wheels}


def gather(folder: Path, python: str, **options: Any) -> list[Path]:
    return install.wheelhouse(folder, python=python, log=lambda _: None, **options)


def test_wheelhouse_for_a_bare_machine(pip: Pip, python: str, root: Path, tmp_path: Path) -> None:
    """All that pyproject.toml names for this Python, but the extra `more` and the tools of the desk, a version of each.

    With what that needs.
    """
    wheels = gather(tmp_path / "new" / "wheels", python)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    del optional["more"]  # not locked: PyTorch alone is larger than all the rest
    wanted = [Requirement(entry) for entry in sum(optional.values(), project["dependencies"])]
    here = {canonicalize_name(each.name) for each in wanted if not each.marker or each.marker.evaluate()}
    assert names(wheels) >= here - {*DESK_TOOLS}
    assert names(wheels) >= {"nvidia-cuda-nvcc", "jedi", "rpds-py", "mako", "pycuda", "jupyter-book", "sphinx"}
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


PYTORCH = """cuda-bindings==13.0.3
cuda-pathfinder==1.9.0
cuda-toolkit==13.0.2
cupy-cuda13x==14.2.0
numpy==2.5.2
nvidia-cublas==13.1.0.3
nvidia-cuda-cupti==13.0.85
nvidia-cuda-nvrtc==13.0.88
nvidia-cuda-runtime==13.0.96
nvidia-cufile==1.15.1.6
nvidia-curand==10.4.0.35
nvidia-nvjitlink==13.0.88
nvidia-nvtx==13.0.85
torch==2.11.0+cu130""".splitlines()
"""CUDA's part of `pip freeze` on a machine with PyTorch: the runtime's headers without crt's, and no nvcc."""

COMPILER = ("nvidia-cuda-cccl", "nvidia-cuda-crt", "nvidia-cuda-nvcc", "nvidia-cuda-profiler-api", "nvidia-nvvm")
TOOLKIT = {*COMPILER, "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-curand", "nvidia-nvjitlink"}


def test_the_toolkit_is_carried_whole_where_a_part_is_missing(pip: Pip, python: str, tmp_path: Path) -> None:
    said: list[str] = []
    carried = names(install.wheelhouse(tmp_path / "wheels", python=python, have=PYTORCH, log=said.append))
    assert carried >= TOOLKIT
    assert carried.isdisjoint({"numpy", "cupy-cuda13x", "cuda-bindings", "cuda-pathfinder", "nvidia-cuda-cupti"})
    [line] = [line for line in said if "toolkit is carried" in line]
    assert "nvidia-cuda-nvcc" in line and "nvidia-cuda-runtime" not in line and "nvidia-*" in line


@pytest.mark.parametrize(
    "rest", [["nvidia-*"], [*COMPILER, "nvidia-nvfatbin"], ["nvidia-c*", "nvidia-nv*"], ["nvidia_*", "cuda-toolkit"]]
)
def test_the_toolkit_is_left_out_whole(pip: Pip, python: str, tmp_path: Path, rest: list[str]) -> None:
    """Where the machine has all of it in wheels, or in /usr/local/cuda, which a pattern says."""
    carried = names(gather(tmp_path / "wheels", python, have=[*PYTORCH, *rest]))
    assert carried.isdisjoint(TOOLKIT) and "pycuda" in carried and "jupyter-book" in carried


def test_a_version_that_does_not_do_counts_for_nothing(pip: Pip, python: str, tmp_path: Path) -> None:
    have = [
        "numpy==1.26.4",
        "jupyter_book==2.1.0",
        "torch==1.0",
        "ruff==0.1",
        "rich==15.0.0",
        "nvidia-nvjitlink==13.2.1",
    ]
    said: list[str] = []
    carried = names(install.wheelhouse(tmp_path / "wheels", python=python, have=have, log=said.append))
    assert carried >= {"numpy", "jupyter-book", "nvidia-nvjitlink"} and carried.isdisjoint({"ruff", "rich", "torch"})
    named = [line for line in said if "pyproject.toml asks for" in line]
    assert len(named) == 3 and "numpy==1.26.4:" in named[0] and named[0].endswith("numpy>=2.1")
    assert "jupyter_book==2.1.0:" in named[1] and "nvidia-nvjitlink==13.2.1:" in named[2]
    assert carried >= TOOLKIT and not any("toolkit is carried" in line for line in said)


def test_a_machine_that_has_everything(pip: Pip, python: str, tmp_path: Path) -> None:
    assert gather(tmp_path / "wheels", python, have=["*"]) == []
    assert pip.calls() == [] and (tmp_path / "wheels").is_dir()


def test_wheelhouse_is_whole_or_not_there(pip: Pip, python: str, tmp_path: Path) -> None:
    pip.then("sys.exit('error: no network')")
    with pytest.raises(InstallError, match="no network") as failure:
        gather(tmp_path / "wheels", python)
    assert list(tmp_path.iterdir()) == []
    Path(str(failure.value).split("all of it: ")[1].split(")")[0]).unlink()


def test_wheelhouse_misses_nothing_silently(pip: Pip, python: str, tmp_path: Path) -> None:
    """A Python that the lock does not serve: pip skips what a marker excludes, without an error."""
    pip.then("for wheel in options['-d'].glob('numpy-*') if 'download' in words else (): wheel.unlink()")
    with pytest.raises(InstallError, match=r"requirements.lock holds nothing for Python .* of: numpy$"):
        gather(tmp_path / "wheels", python)
    assert list(tmp_path.iterdir()) == []


def test_wheelhouse_keeps_other_peoples_files(pip: Pip, python: str, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("42")
    with pytest.raises(InstallError, match="not empty"):
        gather(tmp_path, python)
    with pytest.raises(InstallError, match="not empty"):
        gather(tmp_path / "thesis.tex", python)
    assert (tmp_path / "thesis.tex").read_text() == "42" and pip.calls() == []


def test_lock_is_read() -> None:
    text = (
        "# a comment, made with uv==0.9\n"
        "a.b[extra,more]==1 ; python_version < '3.12' \\\n    --hash=sha256:aa\n    # via\n    #   fourways\n"
        "A_b==2 ; python_version >= '3.12' \\\n    --hash=sha256:bb \\\n    --hash=sha256:cc\n    # via c\n"
        "c==3 \\\n    --hash=sha256:dd\n    # via top\n"
    )
    lock = read_lock(text)
    assert list(lock) == ["a-b", "c"]
    assert [entry.count("--hash") for entry in lock["a-b"]] == [1, 2]
    assert "".join(entry for entries in lock.values() for entry in entries) == text.split("\n", 1)[1]
