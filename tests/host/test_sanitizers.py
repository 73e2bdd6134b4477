"""Sanitizers find planted races and overruns, name the line, and find nothing in what is right."""

import re
from pathlib import Path

import numpy as np
import pytest

from fourways import host

HERE = Path(__file__).parent / "kernels"
PATIENCE = ("-DFOURWAYS_PATIENCE=1",)  # seconds until lanes that wait for each other in vain give up


def kernel(file: str, name: str, *options: str, sanitize: str | None = None) -> host.HostKernel:
    return host.compile(HERE / f"{file}.cuh", options, sanitize).get_function(name)


def poisoned(*shape: int) -> np.ndarray:
    return np.full(shape, np.nan, np.float32)


def test_barriers_and_atomics_order_threads() -> None:
    x, y = np.arange(64, dtype=np.float32), poisoned(64)
    kernel("right", "reverse", sanitize="thread")((2,), (32,), (x, y))
    np.testing.assert_array_equal(y.reshape(2, 32), x.reshape(2, 32)[:, ::-1])
    counts = (np.zeros(5, np.int32), np.zeros(1, np.uint64), np.zeros(1, np.float32), np.zeros(4, np.int32))
    kernel("right", "atomics", sanitize="thread")((2,), (64,), counts)
    assert counts[3].tolist() == [32] * 4
    x, y, options = np.ones(32, np.float32), poisoned(32), ("-DFIRST=__syncwarp()", "-DSECOND=__syncwarp()")
    kernel("warp_order", "running_sum", *options, sanitize="thread")((1,), (32,), (x, y))
    np.testing.assert_array_equal(y, np.arange(1, 33))


@pytest.mark.parametrize("statement", ["", "__shfl_sync(~0u, t, 0)", "__any_sync(~0u, t)"])
@pytest.mark.parametrize("place", ["FIRST", "SECOND"])
def test_only_a_barrier_orders_what_the_threads_of_a_warp_access(place: str, statement: str) -> None:
    order = {"FIRST": "__syncwarp()", "SECOND": "__syncwarp()"} | {place: statement}
    options = [f"-D{name}={text}" for name, text in order.items()]
    x, y = np.ones(32, np.float32), poisoned(32)
    for _ in range(3):  # a lane that comes early to the next meeting must never hide the race
        with pytest.raises(host.SanitizerError, match="data race"):
            kernel("warp_order", "running_sum", *options, sanitize="thread")((1,), (32,), (x, y))


PAST = {
    "reads_past_x": "heap-buffer-overflow",
    "writes_past_y": "heap-buffer-overflow",
    "writes_past_shared": "global-buffer-overflow",
    "writes_past_dynamic_shared": "heap-buffer-overflow",
}


@pytest.mark.parametrize("name", PAST)
def test_a_planted_overrun_is_found(name: str) -> None:
    x, y = np.arange(32, dtype=np.float32), poisoned(32)
    arguments = (x, y, np.int64(32)) if name.endswith(("x", "y")) else (y,)
    launch = kernel("planted", name, *PATIENCE, sanitize="address")
    with pytest.raises(host.SanitizerError, match=PAST[name]) as raised:
        launch((1,), (32,), (*arguments, 1), shared_mem=32 * 4)
    assert re.search(rf"in {name} {HERE}/planted\.cuh:\d+", str(raised.value))
    assert np.isnan(y).all()
    launch((1,), (32,), (*arguments, 0), shared_mem=32 * 4)
    np.testing.assert_array_equal(y, x if len(arguments) == 3 else 1)


@pytest.mark.parametrize("sanitize", [None, "thread", "blocks"])
def test_threads_that_wait_in_different_barriers_are_said(sanitize: str | None) -> None:
    y = np.zeros(128, np.int32)
    two_barriers = kernel("planted", "two_barriers", sanitize=sanitize)
    with pytest.raises(host.KernelError, match=r"waits in the __syncthreads\(\) of line \d+, thread") as raised:
        two_barriers((2,), (64,), (y, np.int32(32)))
    lines = (HERE / "planted.cuh").read_text().splitlines()
    told = [int(number) for number in re.findall(r"of line (\d+)", str(raised.value))]
    assert len({*told}) == 2 and all("__syncthreads" in lines[number - 1] for number in told)
    assert not y.any()
    two_barriers((2,), (64,), (y, np.int32(64)))
    assert y.all()
