"""What the driver says of itself and its GPUs, and which code runs on them; drivers are tiny libraries (layouts.py)."""

import layouts
import pytest
from layouts import Machine

from fourways import toolchain


def test_no_driver(machine: Machine) -> None:
    assert toolchain.driver() is None
    assert toolchain.gpus() == []


def test_driver_with_gpus(machine: Machine) -> None:
    proc = machine.home / "version"
    proc.write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC version: 12.2.0 \n"
    )
    machine.takes_driver(layouts.driver(machine.home / "libcuda.so.1"), proc)
    assert toolchain.driver() == toolchain.Driver("580.159.04", "13.0")
    assert toolchain.gpus() == [
        toolchain.Gpu("Fake A", "9.0", "sm_90", 80 << 30),
        toolchain.Gpu("Fake B", "12.0", "sm_120", 80 << 30),
    ]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ({"init": 100}, "cuInit: CUDA_ERROR_NO_DEVICE"),
        ({"attribute": 999}, "cuDeviceGetAttribute: CUDA_ERROR_UNKNOWN"),
    ],
)
def test_driver_that_gives_no_gpu(machine: Machine, code: dict[str, int], problem: str) -> None:
    """At once, or half way: then no GPU is better than half of one."""
    machine.takes_driver(layouts.driver(machine.home / "broken.so", **code))
    found = toolchain.driver()
    assert found and (found.problem, found.cuda) == (problem, "13.0")
    assert toolchain.gpus() == []


@pytest.mark.parametrize("kind", ["stub", "empty"])
def test_a_stub_is_no_driver(machine: Machine, kind: str) -> None:
    """The toolkit's stub answers 34 (CUDA_ERROR_STUB_LIBRARY); one made for linking PyCUDA has no functions at all."""
    path = machine.home / f"{kind}.so"
    layouts.driver(path, init=34) if kind == "stub" else layouts.library(path, "")
    machine.takes_driver(path)
    assert toolchain.driver() is None
    assert toolchain.gpus() == []


def test_names_of_architectures() -> None:
    assert toolchain.architectures(["90", "sm_80", "sm_90"]) == ["sm_90", "sm_80"]
    every = toolchain.architectures(["120", "all"])
    assert every[0] == "sm_120" and sorted(every) == sorted(f"sm_{arch}" for arch in toolchain.ARCHITECTURES)


@pytest.mark.parametrize(
    ("holds", "arch", "runs"),
    [
        ({"sm_90"}, "sm_90", True),
        ({"sm_80"}, "sm_86", True),  # same major version, older minor
        ({"sm_86"}, "sm_80", False),
        ({"sm_80"}, "sm_90", False),
        ({"compute_80"}, "sm_90", True),  # PTX: compiled by the driver
        ({"compute_90"}, "sm_80", False),
        ({"sm_90a"}, "sm_90", True),
        ({"compute_90a"}, "sm_100", False),
        ({"sm_100f"}, "sm_103", True),
        ({"compute_100f"}, "sm_120", False),
        ({"sm_75", "sm_90"}, "sm_90", True),
        (set(), "sm_90", False),
    ],
)
def test_runs_on(holds: set[str], arch: str, runs: bool) -> None:
    assert toolchain.runs_on(holds, arch) is runs
