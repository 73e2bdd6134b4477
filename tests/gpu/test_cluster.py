"""Plates on one GPU and, where there are two, on both: checked bit by bit by `scale_plates` itself; a rank missing."""

import pytest

from fourways import toolchain
from fourways.experiments import cluster

toolchain.activate()  # ranks build by nvcc, too


def test_one_gpu() -> None:
    found = cluster.scale_plates({256: 20}, [1])["scaling"]
    assert "No times" not in found.note
    assert {row["side"] for row in found.rows} == {256}


@pytest.mark.skipif(bool(toolchain.missing("two-gpus") or toolchain.missing("nccl")), reason="two GPUs and nccl4py")
def test_two_gpus() -> None:
    found = cluster.scale_plates({2048: 20}, [1, 2])
    assert "No times" not in found["scaling"].note
    assert {row["gpus"] for row in found["scaling"].rows} == {1, 2}
    ways = {"nvrtc", "nvcc", "cubin, sent", "pybind11"} | ({"pycuda"} if not toolchain.missing("pycuda") else set())
    assert {row["way"] for row in found["rank_builds"].rows} == ways


@pytest.mark.skipif(bool(toolchain.missing("nccl")), reason="nccl4py")
@pytest.mark.parametrize(
    ("absent", "doing"),
    [(1, "rank 0 is joining NCCL; rank 1 is asleep"), (0, "rank 0 is asleep; rank 1 is waiting for rank 0's identity")],
)
def test_a_rank_that_never_joins_is_named(absent: int, doing: str) -> None:
    with pytest.raises(cluster.RanksError, match=doing):
        cluster.join_without(absent, limit=20)
