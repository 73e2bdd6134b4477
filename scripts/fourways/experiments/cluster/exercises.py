"""Judges of the exercises on caches and on halos."""

import secrets
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fourways.experiments.cluster.plates import stepped
from fourways.experiments.cluster.strips import with_halos

GetOrBuild = Callable[[Path, Callable[[], bytes]], bytes]
"""A function of a cache's file and a builder: it returns the file's bytes, or builds them and writes the file."""
_SECONDS = 0.1
_LIMIT = 20.0
_SIZE = 12_000


def check_get_or_build(get_or_build: GetOrBuild, client: Any) -> None:
    """Print whether, of all workers of `client` that ask at once, a single worker builds, and all get its bytes."""
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        for fails in (False, True):
            if fault := _fault(get_or_build, client, Path(folder, f"{'after_an_error' if fails else 'plain'}"), fails):
                return print(f"Not yet: {fault}")
    print(f"Right: one build for {len(client.scheduler_info(n_workers=-1)['workers'])} workers, even after an error")


def _fault(get_or_build: GetOrBuild, client: Any, folder: Path, fails: bool) -> str | None:
    """Return what is wrong when all workers ask at once for one file. If `fails`, the first build raises an error."""
    from distributed import wait

    folder.mkdir()
    right, file = secrets.token_bytes(_SIZE), folder / "kernel.cubin"
    build = partial(slow_build, folder, right, fails)
    addresses = list(client.scheduler_info(n_workers=-1)["workers"])
    asked = [client.submit(get_or_build, file, build, workers=[each], pure=False) for each in addresses]
    try:
        wait(asked, timeout=_LIMIT)
    except TimeoutError:
        client.restart()
        after = " after a build that raised an error" if fails else ""
        return f"after {_LIMIT:g} s some workers still wait{after}."
    errors = [task.exception() for task in asked if task.status == "error"]
    strange = [error for error in errors if not isinstance(error, BuildFailed)]
    if strange:
        return f"{type(strange[0]).__name__}: {strange[0]}"
    came = [task.result() for task in asked if task.status == "finished"]
    builds = sorted(tuple(map(float, path.read_text().split())) for path in folder.glob("build-*"))
    if not builds:
        return "no worker called build()."
    if any(content != right for content in came):
        wrong = next(content for content in came if content != right)
        return f"a worker got {len(wrong or b''):,} of {_SIZE:,} bytes: it read before the builder had written."
    if not file.is_file() or file.read_bytes() != right:
        return "the file does not hold the kernel afterwards, so the next process would build again."
    if len(builds) > 1:
        overlap = any(later[0] < earlier[1] for earlier, later in pairwise(builds))
        why = "at the same time" if overlap else "one after the other: they waited, and built all the same"
        return f"{len(builds)} of {len(addresses)} workers built, {why}."
    if len(errors) != fails:
        return "the error of build() must reach the worker that built, and no other worker."
    return None


class BuildFailed(RuntimeError):
    """The error of a build that is meant to fail."""


def slow_build(folder: Path, content: bytes, fails: bool) -> bytes:
    """Take a moment, note the beginning and the end in `folder`, and return `content`. The first call may fail."""
    if fails:
        try:
            (folder / "failed").touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            raise BuildFailed
    start = time.time()
    time.sleep(_SECONDS)
    (folder / f"build-{secrets.token_hex(4)}").write_text(f"{start} {time.time()}")
    return content


def check_exchange(exchange: Callable[[list[np.ndarray]], None]) -> None:
    """Print whether `exchange(strips)` fills all halos after a step, for random plates cut into 2 to 5 strips."""
    random = np.random.default_rng()
    for count, height in ((3, 12), (2, 4), (5, 16), (4, 9)):
        plate = random.random((height, 8), np.float32)
        rows = [with_halos(rank, count, height) for rank in range(count)]
        strips = [stepped(plate[each.start : each.stop]) for each in rows]
        before, after = [strip.copy() for strip in strips], stepped(plate)
        try:
            exchange(strips)
        except (IndexError, ValueError) as error:
            return print(f"Not yet: {count} strips: {type(error).__name__}: {error}")
        for number, each in enumerate(rows):
            if fault := _wrong_row(strips[number], before[number], after[each.start : each.stop]):
                return print(f"Not yet: {count} strips: strip {number}, {fault}")
    print("Right: after a step, 2 to 5 strips hold the rows of the whole plate")


def _wrong_row(strip: np.ndarray, before: np.ndarray, right: np.ndarray) -> str | None:
    """Return what is wrong with the first wrong row of a strip, or None."""
    if strip.shape != before.shape:
        return f"the shape was {before.shape} and is {strip.shape}."
    for row in np.flatnonzero((strip != right).any(axis=1)):
        if (before[row] == right[row]).all():
            return f"row {row}: it was right before; only fill halos."
        if (strip[row] == before[row]).all():
            return f"row {row}: this halo still holds the row of the step before."
        if any((strip[row] == other).all() for other in before):
            return f"row {row}: it got a row of its own strip; mind the order."
        return f"row {row}: it did not get a row that the neighbour computed."
    return None
