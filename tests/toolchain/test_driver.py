"""Names of architectures, and which code runs on which GPU. tests/gpu asks a real driver."""

import importlib
from pathlib import Path

import pytest
from layouts import library

from fourways import toolchain


def test_what_pycuda_is_linked_with_is_no_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library without any function lies where the driver is looked for."""
    module = importlib.import_module("fourways.toolchain.driver")  # toolchain.driver is the function of that name
    monkeypatch.setattr(module, "DRIVER_LIBRARY", str(library(tmp_path / "stub.so", "")))
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
        ({"sm_100f"}, "sm_103", True),
        ({"compute_100f"}, "sm_120", False),
        ({"sm_75", "sm_90"}, "sm_90", True),
    ],
)
def test_runs_on(holds: set[str], arch: str, runs: bool) -> None:
    assert toolchain.runs_on(holds, arch) is runs
