"""What a way lacks on a machine, with the remedy, in one line."""

from dataclasses import replace

import layouts
import pytest
from layouts import Machine

from fourways import toolchain, ways

DRIVER = toolchain.Driver("580.159.04", "13.0")
GPU = toolchain.Gpu("A GPU", "9.0", "sm_90", 80 << 30)


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


def test_a_driver_without_a_gpu_and_one_that_is_too_old(machine: Machine) -> None:
    machine.has_driver(replace(DRIVER, problem="cuInit: CUDA_ERROR_NO_DEVICE"))
    assert "shows no GPU (cuInit: CUDA_ERROR_NO_DEVICE)" in str(ways.missing("nvrtc"))
    machine.has_driver(DRIVER, GPU)
    assert toolchain.missing("gpu") is None
    assert toolchain.missing("two-gpus") == "one GPU here: this runs on a machine with two"
    machine.has_driver(toolchain.Driver("550.54.15", "12.4"), GPU)
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
    machine.has_driver(DRIVER, GPU)
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


def test_missing_compilers(machine: Machine) -> None:
    has_modules(machine, "cupy")
    machine.has_driver(DRIVER, GPU)
    machine.patch.setenv("PATH", str(machine.home / "bin"))
    assert ways.missing("nvcc") == "no nvcc found: make setup"
    machine.has("system")
    assert "install g++" in str(ways.missing("nvcc"))
    assert "install g++" in str(toolchain.missing("host compiler"))
    layouts.script(machine.home / "bin" / "g++", "")
    assert ways.missing("nvcc") is None
    assert toolchain.missing("host compiler") is None
