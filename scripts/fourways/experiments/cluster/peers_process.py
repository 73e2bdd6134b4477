"""The baseline: one process drives all GPUs, and copies the halos from one to the other itself."""

from collections.abc import Callable
from functools import partial
from typing import Any

from fourways.experiments.cluster.ranks import Meeting, Tell
from fourways.experiments.cluster.strips import Part, own_rows, sides, step_with_peer_copies, with_halos
from fourways.experiments.cluster.strips_process import CHECK, first_plate, launcher, timed


def peer_work(rank: int, tell: Tell, meeting: Meeting, count: int, cubin: str, work: dict[int, int]) -> dict[str, Any]:
    """The same plates by one process for all `count` GPUs: returns `seconds` by side, and `rows` of each GPU."""
    tell("importing CuPy")
    import cupy as cp

    for here in range(count):
        for other in set(range(count)) - {here}:
            if cp.cuda.runtime.deviceCanAccessPeer(here, other):
                with cp.cuda.Device(here):
                    cp.cuda.runtime.deviceEnablePeerAccess(other)
    launch = launcher(cubin)
    tell("checking")
    height, width, steps = CHECK
    whole = first_plate(height, width)
    parts = make_parts([whole[held.start : held.stop] for held in (with_halos(r, count, height) for r in range(count))])
    run_parts(parts, launch, steps)
    rows = []
    for number, part in enumerate(parts):
        own, held = own_rows(number, count, height), with_halos(number, count, height)
        with part.device:
            rows.append(part.u[own.start - held.start :][: len(own)].get())
    seconds = {}
    for side, steps in work.items():
        tell(f"measuring a plate of {side}²")
        parts = make_parts([(len(with_halos(r, count, side)), side) for r in range(count)])
        seconds[side] = timed(partial(run_parts, parts, launch, steps), steps, meeting)
    return {"rows": rows, "seconds": seconds}


def make_parts(plates: list[Any]) -> list[Part]:
    """A part on each GPU: of a NumPy array, or of a shape, then with random temperatures."""
    import cupy as cp

    parts = []
    for number, plate in enumerate(plates):
        with cp.cuda.Device(number):
            shape = isinstance(plate, tuple)
            u = cp.random.default_rng(number).random(plate, dtype=cp.float32) if shape else cp.asarray(plate)
            stream, stepped = cp.cuda.Stream(non_blocking=True), cp.cuda.Event(disable_timing=True)
            parts.append(Part(cp.cuda.Device(number), sides(number, len(plates)), stream, stepped, u, u.copy()))
            cp.cuda.Device(number).synchronize()
    return parts


def run_parts(parts: list[Part], launch: Callable[[Any, Any], None], steps: int) -> None:
    """Take steps, and wait for all GPUs."""
    import cupy as cp

    def copy(halo: Any, part: Part, row: Any, peer: Part) -> None:
        where, whence = (halo.data.ptr, part.device.id), (row.data.ptr, peer.device.id)
        cp.cuda.runtime.memcpyPeerAsync(*where, *whence, row.nbytes, part.stream.ptr)

    for _ in range(steps):
        step_with_peer_copies(parts, launch, copy)
    for part in parts:
        part.stream.synchronize()
