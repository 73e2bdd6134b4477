"""Builds on a GPU: the caches that only work with one are filled once and found in every process after that."""

from pathlib import Path

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


@PYCUDA
def test_pycuda_finds_its_cache(arch: str) -> None:
    made = building.make(DOUBLIFY, "pycuda", arch)
    assert 0 < max(made.cached) < min(made.seconds) / 2


def test_cuda_core_makes_ptx_where_there_is_a_driver(arch: str) -> None:
    made = building.make(DOUBLIFY, "cuda.core", arch)
    assert made.sizes["ptx"] > 500 and not made.missing
    assert max(made.cached) < min(made.seconds) / 5


def test_for_another_gpu_cupy_is_not_timed(arch: str) -> None:
    made = building.make(DOUBLIFY, "nvrtc", "sm_75" if arch != "sm_75" else "sm_80")
    assert made.cached == [] and f"this machine's GPU alone ({arch})" in made.missing["cached"]


def test_every_compiler_is_timed_cold_and_cached(arch: str) -> None:
    rows = building.rows(DOUBLIFY, archs=[arch])
    timed = {row["compiler"] for row in rows if row["seconds"] and row["cached_seconds"]}
    assert timed == set(building.ALL_COMPILERS) - (set() if toolchain.installed("pycuda") else {"pycuda"})
    cold, cached = building.figure(rows).axes
    assert len(cold.patches) == len(cached.patches) == len(timed)
