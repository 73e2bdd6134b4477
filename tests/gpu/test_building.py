"""Builds on a GPU: the caches that only work with one are filled once and found in every process after that."""

import sys
from pathlib import Path
from typing import Any

import pytest

from fourways import building, kernels, toolchain

DOUBLIFY = kernels.path("doublify")
PYCUDA = pytest.mark.skipif(not toolchain.installed("pycuda"), reason="PyCUDA is not installed")


@pytest.fixture(scope="module")
def arch() -> str:
    return toolchain.gpus()[0].arch


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the caches, kept until the test has looked into it."""
    real = toolchain.cold_caches
    monkeypatch.setattr(toolchain, "cold_caches", lambda folder: real(tmp_path))
    return tmp_path


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_cupy_compiles_once_and_finds_it_in_every_process(compiler: str, arch: str, caches: Path) -> None:
    made = building.make(DOUBLIFY, compiler, arch)
    assert len(made.cached) == 3 and min(made.cached) > 0
    (entry,) = (caches / "CUPY_CACHE_DIR").glob("*.cubin")
    written = entry.stat().st_mtime_ns
    building.make(DOUBLIFY, compiler, arch)
    assert entry.stat().st_mtime_ns == written, "found, not compiled again"


@pytest.mark.parametrize("compiler", [pytest.param("pycuda", marks=PYCUDA), "cuda.core"])
def test_a_package_finds_its_cache_in_every_process(compiler: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = sys.modules["fourways.building.packages"]
    real, after_each_process = packages.run, []

    def run(task: dict[str, Any], folder: Path) -> dict[str, Any]:
        answer = real(task, folder)
        if task["cache"]:
            there = (path for path in Path(task["cache"]).rglob("*") if path.is_file())
            after_each_process.append({path.name: path.stat().st_mtime_ns for path in there})
        return answer

    monkeypatch.setattr(packages, "run", run)
    assert len(building.make(DOUBLIFY, compiler, arch).cached) == 3
    filled = after_each_process[0]
    assert filled and after_each_process == [filled] * 4, "found, not compiled again"


def test_cuda_core_makes_ptx_where_there_is_a_driver(arch: str) -> None:
    made = building.make(DOUBLIFY, "cuda.core", arch)
    assert made.sizes["ptx"] > 500 and not made.missing


def test_for_another_gpu_cupy_is_not_timed(arch: str) -> None:
    made = building.make(DOUBLIFY, "nvrtc", "sm_75" if arch != "sm_75" else "sm_80")
    assert made.cached == [] and f"this machine's GPU alone ({arch})" in made.missing["cached"]


def test_every_compiler_is_timed_cold_and_cached(arch: str) -> None:
    rows = building.rows(DOUBLIFY, archs=[arch])
    timed = {row["compiler"] for row in rows if row["seconds"] and row["cached_seconds"]}
    assert timed == set(building.ALL_COMPILERS) - (set() if toolchain.installed("pycuda") else {"pycuda"})
    cold, cached = building.figure(rows).axes
    assert len(cold.patches) == len(cached.patches) == len(timed)
