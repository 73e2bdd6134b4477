"""Builds side by side: what is counted, which artefact runs where, and what bad input says."""

from pathlib import Path

import pytest

from fourways import building, builds, kernels


def test_a_row_for_each_compiler_and_architecture() -> None:
    found = builds.rows(kernels.path("doublify"), building.COMPILERS, ["sm_75", "sm_90"])
    assert [(row["compiler"], row["arch"]) for row in found] == [
        (compiler, arch) for compiler in ("nvrtc", "nvcc") for arch in ("sm_75", "sm_90")
    ]
    for row in found:
        assert row["seconds"]["samples"] == 3 and row["seconds"]["median"] > 0
        assert 0 < row["registers"] < 64 and row["spill_bytes"] == 0
        assert row["cubin_bytes"] > 1000 and row["ptx_bytes"] > 500 and row["ltoir_bytes"] > 500
    nvrtc, nvcc = found[1], found[3]
    assert nvrtc["registers"] == nvcc["registers"]
    assert nvrtc["seconds"]["median"] < nvcc["seconds"]["median"], "a library needs no process of its own"
    assert "sm_75" in str(builds.table(found))


def test_shared_memory_and_options_are_seen(tmp_path: Path) -> None:
    file = tmp_path / "own.cu"
    file.write_text(
        'extern "C" __global__ void own(float *x)\n'
        "{ __shared__ float s[SIZE]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[threadIdx.x ^ 1]; }\n"
    )
    (row,) = builds.rows(file, ["nvrtc"], ["sm_90"], ["-DSIZE=512"])
    assert row["shared_bytes"] == 2048
    with pytest.raises(building.BuildError, match="SIZE"):
        builds.rows(file, ["nvrtc"], ["sm_90"])


def test_architectures() -> None:
    assert builds.architectures(["90", "sm_75", "90"]) == ["sm_90", "sm_75"]
    assert builds.architectures(["all"]) == [f"sm_{arch}" for arch in building.ARCHITECTURES]


def test_which_artefact_runs_where() -> None:
    where = {row["artefact"]: row["gpus"] for row in builds.runs_on(["sm_80", "sm_90", "sm_100"]).rows}
    assert where["cubin sm_80"] == ["80", "86", "89"], "the same major version, from this minor version on"
    assert where["cubin sm_90"] == ["90"]
    assert where["PTX compute_90"] == ["90", "100", "120"]
    assert where["cubin sm_100"] == ["100"], "12.0 is another major version"
