"""Cooperative groups on the host: a block, its tiles, reductions."""

from pathlib import Path

import numpy as np
import pytest

from fourways import host

GROUPS = Path(__file__).parent / "kernels" / "groups.cuh"


def group(name: str, *options: str, sanitize: str | None = None) -> host.HostKernel:
    return host.compile(GROUPS, options, sanitize).get_function(name)


@pytest.mark.parametrize("sanitize", [None, "thread", "blocks"])
def test_a_block_as_a_group(sanitize: str | None) -> None:
    x = np.arange(10 * 13, dtype=np.float32).reshape(10, 13)
    y, framed = np.full_like(x, np.nan), np.pad(x, 1)
    right = (framed[:-2, 1:-1] + framed[2:, 1:-1] + framed[1:-1, :-2] + framed[1:-1, 2:] + x) / 5
    group("smooth", sanitize=sanitize)((2, 2), (8, 8), (x, y, np.int32(10), np.int32(13)))
    np.testing.assert_allclose(y, right, rtol=1e-6)


def test_a_race_that_a_groups_sync_would_prevent_is_found() -> None:
    x = np.ones((8, 8), np.float32)
    with pytest.raises(host.SanitizerError, match="data race"):
        group("smooth", "-DWITHOUT_SYNC", sanitize="thread")((1,), (8, 8), (x, x.copy(), np.int32(8), np.int32(8)))


def test_tiles() -> None:
    y = np.zeros((9, 64), np.int32)
    group("tiles")((1,), (64,), (y,))
    i, rank = np.arange(64), np.arange(64) % 8
    first = i - rank
    np.testing.assert_array_equal(y[0], rank + 100 * (i // 8 % 4) + 80000 + 4000000)
    np.testing.assert_array_equal(y[1], first + 3)
    np.testing.assert_array_equal(y[2], np.where(rank < 6, i + 2, i) - np.where(rank, i - 1, i))
    np.testing.assert_array_equal(y[3], i ^ 1)
    np.testing.assert_array_equal(y[4], [sum(1 << k for k in range(8) if (f + k) % 3 == 0) for f in first])
    np.testing.assert_array_equal(y[5], (first == 8) + 2 * (first < 16))
    np.testing.assert_array_equal(y[6], np.where(i % 2, 0xAA, 0x55))
    np.testing.assert_array_equal(y[7], 8 * first + 28 - (i // 32 * 32 + 31))
    np.testing.assert_array_equal(y[8], first)


@pytest.mark.parametrize("sanitize", [None, "thread"])
def test_groups_whose_size_is_known_at_run_time(sanitize: str | None) -> None:
    x, total, parts = np.arange(64, dtype=np.int32), np.zeros(1, np.int32), np.zeros(4, np.int32)
    group("sums", sanitize=sanitize)((1,), (64,), (x, total, parts))
    assert total[0] == x.sum() and parts.tolist() == x.reshape(4, 16).sum(1).tolist()
