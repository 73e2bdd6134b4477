"""The work of one rank on its GPU, in a process of its own: build, join the others, step, measure.

Imports the package's small parts only; CuPy and NCCL are imported where a rank says that it does.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from fourways.experiments.cluster.ranks import Meeting, Tell
from fourways.experiments.cluster.strips import (
    ROUND,
    Strip,
    sides,
    step_then_exchange,
    step_while_exchanging,
    steps_by_graph,
    steps_by_launches,
    with_halos,
)

BLOCK, CELLS = (128, 2), (512, 8)  # threads of a block, and the cells that it computes: wide, high
CHECK = (97, 1028, 2 * ROUND)
"""Height, width and steps of the checked plate. Its strips differ in height; its rows are loaded as the timed ones."""
HOW: dict[str, Callable[[Strip, Any, Any], Callable[[], None]]] = {
    "compute, then exchange": partial(steps_by_launches, step_then_exchange),
    "both at once": partial(steps_by_launches, step_while_exchanging),
    "a graph of both": partial(steps_by_graph, priorities=False),
    "a graph with priorities": steps_by_graph,
}
"""Functions that make a call which takes ROUND steps, by name. Graphs come last, because they need loaded kernels."""


@contextmanager
def nccl_in_full() -> Iterator[None]:
    """Add the last line of NCCL's log to its errors, which tell only their kind."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "NCCLError":
            raise
        from nccl.bindings import nccl as bindings

        raise RuntimeError(f"NCCL: {error}: {bindings.get_last_error(bindings.Comm(0))}") from error


@nccl_in_full()
def rank_work(rank: int, tell: Tell, meeting: Meeting, count: int, cubin: str, work: dict[int, int]) -> dict[str, Any]:
    """Do the whole work on GPU number `rank`. Returns `seconds` by side and by HOW, and `rows` of CHECK's plate by HOW.

    `work[side]` is the number of steps to measure, a multiple of ROUND, on a square plate of that side.
    """
    tell("importing CuPy")
    import cupy as cp

    cp.cuda.Device(rank).use()
    cp.cuda.runtime.free(0)  # creates the context
    launch = launcher(cubin)
    communicator = join(rank, tell, meeting, count)
    result: dict[str, Any] = {"rows": {}, "seconds": {}}
    height, width, steps = CHECK
    whole = first_plate(height, width)
    held = with_halos(rank, count, height)
    for name, make in HOW.items():
        tell(f"checking: {name}")
        u = cp.asarray(whole[held.start : held.stop])
        strip = make_strip(rank, count, launch, communicator, u)
        run(strip, make(strip, u, u.copy()), steps)
        result["rows"][name] = u[strip.own].get()
    for side, steps in work.items():
        tell(f"measuring a plate of {side}²")
        u = cp.random.default_rng(rank).random((len(with_halos(rank, count, side)), side), dtype=cp.float32)
        strip, v = make_strip(rank, count, launch, communicator, u), u.copy()
        result["seconds"][side] = {
            name: timed(partial(run, strip, make(strip, u, v), steps), steps, meeting) for name, make in HOW.items()
        }
        del u, v, strip
        cp.get_default_memory_pool().free_all_blocks()
    tell("leaving")
    if communicator:
        communicator.destroy()
    return result


def join(rank: int, tell: Tell, meeting: Meeting, count: int) -> Any:
    """The NCCL communicator of `count` ranks, on the current GPU; None for one rank, which needs none."""
    if count == 1:
        return None
    tell("importing nccl4py")
    # nccl4py imports PyTorch if it is installed, which takes seconds; we pass no tensors
    sys.modules.setdefault("torch", None)  # type: ignore[arg-type]
    # NVLink's multicast serves collectives, such as sums; rows for one neighbour do not use it
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    import nccl.core as nccl

    tell("waiting for rank 0's unique ID" if rank else "making the unique ID")
    unique_id = meeting.share(rank, lambda: bytes(nccl.get_unique_id()))
    tell("joining NCCL")
    return nccl.Communicator.init(count, rank, nccl.UniqueId.from_bytes(unique_id))


@nccl_in_full()
def join_or_stay_away(rank: int, tell: Tell, meeting: Meeting, count: int, absent: int) -> str:
    """Join on GPU 0, like every rank but `absent`, which never does."""
    tell("importing CuPy")
    import cupy as cp

    cp.cuda.Device(0).use()
    cp.cuda.runtime.free(0)
    if rank == absent:
        tell("asleep")
        time.sleep(3600)
    return str(join(rank, tell, meeting, count))


def make_strip(rank: int, count: int, launch: Callable[[Any, Any], None], communicator: Any, u: Any) -> Strip:
    """A strip of plates like `u`, with its streams, events and scratch rows."""
    import cupy as cp

    neighbours = sides(rank, count)
    for side in neighbours:
        side.fresh = cp.empty((3, u.shape[1]), u.dtype)
    # the link has a higher priority: its kernels do not queue behind the blocks of the inner rows
    main, link = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True, priority=-1)
    done, ready = (cp.cuda.Event(disable_timing=True) for _ in range(2))
    return Strip(launch, exchanger(communicator), neighbours, main, link, done, ready)


def exchanger(communicator: Any) -> Callable[[list, Any], None]:
    """Return a function that sends and receives rows by NCCL, all in one group, so that no row waits for its turn."""
    if communicator is None:
        return lambda pairs, stream: None
    import nccl.core as nccl

    def exchange(pairs: list, stream: Any) -> None:
        with nccl.group():
            for side, row, halo in pairs:
                communicator.send(row, side.peer, stream=stream.ptr)
                communicator.recv(halo, side.peer, stream=stream.ptr)

    return exchange


def run(strip: Strip, take: Callable[[], None], steps: int) -> None:
    """Take steps, a multiple of ROUND, and wait for the GPU."""
    import cupy as cp

    cp.cuda.Device().synchronize()  # the arrays were made on another stream
    strip.done.record(strip.main)
    for _ in range(steps // ROUND):
        take()
    cp.cuda.Device().synchronize()


def timed(call: Callable[[], Any], steps: int, meeting: Meeting) -> float:
    """Host seconds a step, the median of five runs that all ranks begin together, after one to warm up."""
    samples = []
    for _ in range(6):
        meeting.barrier.wait()
        start = time.perf_counter()
        call()
        samples.append((time.perf_counter() - start) / steps)
    return statistics.median(samples[1:])


def launcher(cubin: str) -> Callable[[Any, Any], None]:
    """Return a function that steps the stencil from u to v, by a cubin, on CuPy's current stream."""
    import cupy as cp
    import numpy as np

    kernel = cp.RawModule(path=cubin).get_function("stencil")

    def launch(u: Any, v: Any) -> None:
        h, w = u.shape
        blocks = -(-w // CELLS[0]), min(-(-h // CELLS[1]), 65535)
        kernel(blocks, BLOCK, (u, v, np.int64(h), np.int64(w)))

    return launch


def first_plate(height: int, width: int) -> Any:
    """The same random temperatures on every rank, as a NumPy array."""
    import numpy as np

    return np.random.default_rng(1).random((height, width), np.float32)
