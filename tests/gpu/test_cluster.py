"""Plates on one GPU and, where there are two, on both: checked bit by bit by `scale_plates` itself; a rank missing."""

import pytest

from fourways import toolchain
from fourways.experiments import cluster

toolchain.activate()


def test_one_gpu() -> None:
    table = cluster.scale_plates({256: 20}, [1])["scaling"]
    assert "No times" not in table.note
    assert {row["side"] for row in table.rows} == {256}


@pytest.mark.skipif(bool(toolchain.missing("two-gpus") or toolchain.missing("nccl")), reason="two GPUs and nccl4py")
def test_two_gpus() -> None:
    table = cluster.scale_plates({2048: 20}, [1, 2])["scaling"]
    assert "No times" not in table.note
    assert {row["gpus"] for row in table.rows} == {1, 2}


@pytest.mark.skipif(bool(toolchain.missing("nccl")), reason="nccl4py")
@pytest.mark.parametrize(
    ("absent", "doing"),
    [
        (1, "rank 0 is joining NCCL; rank 1 is asleep"),
        (0, "rank 0 is asleep; rank 1 is waiting for rank 0's unique ID"),
    ],
)
def test_a_rank_that_never_joins_is_named(absent: int, doing: str) -> None:
    with pytest.raises(cluster.RanksError, match=doing):
        cluster.join_without(absent, limit=20)
