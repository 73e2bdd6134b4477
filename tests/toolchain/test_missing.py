"""What a way lacks on a machine, with the remedy, in one line."""

import importlib
import shlex
import tomllib
from pathlib import Path

import layouts
import pytest
from layouts import Machine
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from fourways import toolchain, ways


def has_modules(machine: Machine, *names: str) -> None:
    for name in names:
        package = machine.home / "site-packages" / name / "__init__.py"
        package.parent.mkdir(parents=True, exist_ok=True)
        package.touch()


def test_no_driver(machine: Machine) -> None:
    assert toolchain.missing("gpu") == "no NVIDIA driver: this way runs on a machine with an NVIDIA GPU"
    for way in ("nvrtc", "nvcc", "pycuda", "pybind11"):
        assert ways.missing(way) == "no NVIDIA driver: this way runs on a machine with an NVIDIA GPU"
    assert toolchain.missing("host compiler") is None


def test_no_gpu(machine: Machine) -> None:
    machine.takes_driver(layouts.driver(machine.home / "none.so", init=100))
    assert "CUDA_ERROR_NO_DEVICE" in str(ways.missing("nvrtc"))
    machine.takes_driver(layouts.driver(machine.home / "libcuda.so.1"))
    assert toolchain.missing("gpu") is None


def test_a_driver_that_is_too_old(machine: Machine) -> None:
    machine.patch.setattr(
        importlib.import_module("fourways.toolchain.missing"), "driver", lambda: toolchain.Driver("550.54.15", "12.4")
    )
    said = "the NVIDIA driver 550.54.15 serves CUDA 12.4, not 13.0: update it to 580 or newer, or take another machine"
    assert ways.missing("pycuda") == toolchain.missing("gpu") == said


@pytest.mark.parametrize(
    ("way", "lacking", "remedy"),
    [
        ("nvrtc", "cupy", "make setup"),
        ("pycuda", "pycuda", "fourways install-pycuda"),
        ("pybind11", "fourways_aot", "make setup"),
        ("pybind11", "cupy", "make setup"),
    ],
)
def test_missing_package_comes_with_its_remedy(machine: Machine, way: str, lacking: str, remedy: str) -> None:
    machine.has("system")
    machine.takes_driver(layouts.driver(machine.home / "libcuda.so.1"))
    has_modules(machine, *({"cupy", "pycuda", "fourways_aot"} - {lacking}))
    said = str(ways.missing(way))
    assert said.endswith(remedy)
    assert "\n" not in said
    has_modules(machine, lacking)
    assert ways.missing(way) is None


@pytest.mark.parametrize("package", toolchain.PACKAGES)
def test_packages_of_some_lessons(machine: Machine, package: str) -> None:
    has_modules(machine, "another")
    said = str(toolchain.missing(package))
    assert "is not installed: " in said and ("make setup" in said) == (package not in toolchain.MORE)
    has_modules(machine, {"nccl": "nccl/core"}.get(package, package))
    assert toolchain.missing(package) is None


def test_pip_brings_the_extra_more(machine: Machine, root: Path) -> None:
    """By the packages' names, for PyPI has no Four Ways; CUDA stays that of pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    more = {wanted.name: wanted for wanted in map(Requirement, project["optional-dependencies"]["more"])}
    wanted = {wanted.name: wanted for wanted in map(Requirement, project["dependencies"])} | more
    told = [str(toolchain.missing(module)).partition(": pip install ")[2] for module in toolchain.MORE]
    named = [Requirement(word) for remedy in told for word in shlex.split(remedy)]
    assert more.keys() <= {package.name for package in named}
    for package in named:
        assert package.extras <= wanted[package.name].extras
        assert package.specifier in (SpecifierSet(), wanted[package.name].specifier)


def test_nccl4py_shares_the_name_nccl(machine: Machine) -> None:
    (machine.home / "site-packages" / "nccl" / "core").mkdir(parents=True)
    assert toolchain.missing("nccl") is not None  # a folder of that name, no module in it
    has_modules(machine, "nccl/core")
    assert toolchain.missing("nccl") is None


def test_cutensor_is_a_library_without_a_module(machine: Machine) -> None:
    folder = machine.home / "site-packages" / "cutensor" / "lib"
    folder.mkdir(parents=True)
    assert toolchain.missing("cutensor") == "cuTENSOR is not installed: pip install cutensor-cu13"
    (folder / "libcutensor.so.2").touch()
    assert toolchain.missing("cutensor") is None


def test_two_gpus(machine: Machine) -> None:
    machine.takes_driver(layouts.driver(machine.home / "libcuda.so.1"))
    assert toolchain.missing("two-gpus") is None
    one = toolchain.gpus()[:1]
    machine.patch.setattr(importlib.import_module("fourways.toolchain.missing"), "gpus", lambda: one)
    assert toolchain.missing("two-gpus") == "one GPU here: this runs on a machine with two"


def test_missing_compilers(machine: Machine) -> None:
    has_modules(machine, "cupy")
    machine.takes_driver(layouts.driver(machine.home / "libcuda.so.1"))
    machine.patch.setenv("PATH", str(machine.home / "bin"))
    assert ways.missing("nvcc") == "no nvcc found: make setup"
    machine.has("system")
    assert "install g++" in str(ways.missing("nvcc"))
    assert "install g++" in str(toolchain.missing("host compiler"))
    layouts.script(machine.home / "bin" / "g++", "")
    assert ways.missing("nvcc") is None
    assert toolchain.missing("host compiler") is None


def test_installed_imports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "breaks_when_imported.py").write_text("raise RuntimeError")
    assert toolchain.installed("breaks_when_imported") == tmp_path / "breaks_when_imported.py"
    assert toolchain.installed("not_there") is None
    assert toolchain.installed("not_there.either") is None
