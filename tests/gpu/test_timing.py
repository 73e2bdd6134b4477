"""On a GPU: the clocks of `timing`, in a folder without the package. The next file compares them with CUPTI."""

from pathlib import Path

import alone
import cupy
import pytest

from fourways import timing

ALONE = """
import cupy, timing

x, moved = cupy.ones(2**20, cupy.float32), 2**23
calls = {"add": lambda: cupy.add(x, x, out=x), "copy": timing.copy(moved)}
clocks = (timing.on_gpu, timing.cold, timing.in_graph, timing.waited, timing.launches)
medians = {}
for clock in clocks:
    table = clock(calls, rounds=20)
    print(table)
    assert [row["call"] for row in table.rows] == ["add", "copy", "nothing"]
    assert all(row["seconds"]["samples"] == 20 for row in table.rows)
    medians[clock.__name__] = {row["call"]: row["seconds"]["median"] for row in table.rows}
add = {clock: taken["add"] for clock, taken in medians.items()}
assert 0 < add["in_graph"] < add["cold"] and add["on_gpu"] < min(add["cold"], add["waited"]), add
assert medians["on_gpu"]["nothing"] < 2e-6 < medians["waited"]["nothing"], medians
rates = timing.on_gpu(calls, 5, moved)
assert all(row["bytes_per_second"] > 1e9 for row in rates.rows[:2]) and "bytes" not in rates.rows[2]
print(rates)
"""


@pytest.mark.quiet
def test_every_clock_alone(tmp_path: Path) -> None:
    printed = alone.run("timing", ALONE, tmp_path)
    assert printed.count("p10 to p90") == 6 and printed.count("Two events add ") == 3


def test_a_call_that_waits_has_no_time_between_events() -> None:
    with pytest.raises(ValueError, match="waits for the GPU, so events around it time the host, too: use `waited`"):
        timing.on_gpu({"waits": cupy.cuda.Device().synchronize})


def test_a_call_that_allocates_can_be_captured() -> None:
    x = cupy.ones(1000, cupy.float32)
    assert timing.in_graph({"sum": lambda: (x + 1).sum()}, rounds=3).rows[0]["seconds"]["median"] > 0


@pytest.mark.quiet
def test_the_host_may_take_long_to_queue_a_call() -> None:
    """Its time between events is the kernels', as in a graph, and not the host's."""
    x = cupy.ones(1000, cupy.float32)

    def slow() -> None:
        for _ in range(200):
            cupy.add(x, x, out=x)

    queued = timing.launches({"slow": slow}, count=1).rows[0]["seconds"]["median"]
    (each, _) = timing.on_gpu({"slow": slow}, rounds=10).rows
    graph = timing.in_graph({"one": lambda: cupy.add(x, x, out=x)}).rows[0]["seconds"]["median"]
    assert 160 * graph < each["seconds"]["median"] < queued
