"""Ranks that come through, and ranks that do not: who is named, and that no process is left."""

import os
import time
from pathlib import Path

import pytest
import rank_targets

from fourways import cluster


def test_what_each_rank_returns_by_rank() -> None:
    assert cluster.run_ranks(rank_targets.squares, 3, (5,)) == [25, 36, 49]


def test_rank_0_shares_its_bytes() -> None:
    assert cluster.run_ranks(rank_targets.shared, 3) == [b"of rank 0"] * 3


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("raises", "rank 1 of 2 raised ValueError: no kernel while alone"),
        ("dies", "rank 1 of 2 ended with exit code 3 while alone"),
        ("sleeps", "not all 2 ranks are done after 10 s: rank 0 is waiting for all; rank 1 is alone"),
    ],
)
def test_a_rank_that_fails_is_named_and_none_is_left(how: str, said: str, tmp_path: Path) -> None:
    start = time.monotonic()
    with pytest.raises(cluster.RanksError) as raised:
        cluster.run_ranks(rank_targets.fails, 2, (how, str(tmp_path)), limit=10 if how == "sleeps" else 30)
    assert str(raised.value) == said
    assert time.monotonic() - start < 25
    left = [file for file in tmp_path.iterdir() if is_alive(int(file.read_text()))]
    assert (tmp_path / "1").exists() and not left


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
