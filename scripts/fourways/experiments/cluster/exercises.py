"""Judges of the exercises on caches and on halos."""

import hashlib
import secrets
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fourways.experiments.cluster.plates import stepped
from fourways.experiments.cluster.strips import with_halos

GetOrBuild = Callable[[Path, Callable[[], bytes]], bytes]
"""A function of a cache's file and a builder: it returns the file's bytes, or builds them and writes the file."""
_LEAD = 0.3  # seconds in which all workers get their task
_LIMIT = 20.0
_SIZE = 12_000
_LATE = 1.0


class _Trial(NamedTuple):
    """Workers that ask for one file: all at once, or, if some are `late`, when the file has just appeared.

    A build takes `seconds`, and gives `times` the kernel's bytes. If it `fails`, the first build raises an error.
    """

    name: str
    seconds: float = 0.1
    fails: bool = False
    is_there: bool = False
    late: int = 0
    times: int = 1


_TRIALS = (
    _Trial("plain"),
    _Trial("after_an_error", seconds=0.5, fails=True),  # longer, so that no fixed waiting time suits both
    _Trial("filled", is_there=True),
    _Trial("latecomers", late=3, times=4000),  # so long that it is read while it is written
)


def check_get_or_build(get_or_build: GetOrBuild, client: Any) -> None:
    """Print whether, of all workers of `client` that ask at once, a single worker builds, and all get its bytes.

    No worker may build a file that is there, read it before all is written, or wait long after it was built.
    """
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        for trial in _TRIALS:
            if fault := _fault(get_or_build, client, Path(folder, trial.name), trial):
                return print(f"Not yet: {fault}")
    print(f"Right: one build for {len(client.scheduler_info(n_workers=-1)['workers'])} workers, even after an error")


def _fault(get_or_build: GetOrBuild, client: Any, folder: Path, trial: _Trial) -> str | None:
    """Return what is wrong when workers ask for one file."""
    from distributed import wait

    folder.mkdir()
    content, file = secrets.token_bytes(_SIZE), folder / "kernel.cubin"
    if trial.is_there:
        file.write_bytes(content)
    right = _digest(content * trial.times)
    build = partial(slow_build, folder, content, trial.fails, trial.seconds, trial.times)
    addresses = list(client.scheduler_info(n_workers=-1)["workers"])[: trial.late + 1 if trial.late else None]
    asked, begin = [], time.time() + _LEAD
    for number, each in enumerate(addresses):
        patience = _LIMIT if trial.late and number else 0.0
        asked.append(client.submit(ask, get_or_build, file, build, begin, patience, workers=[each], pure=False))
    try:
        wait(asked, timeout=_LIMIT)
    except TimeoutError:
        client.restart()
        after = " after a build that raised an error" if trial.fails else ""
        return f"after {_LIMIT:g} s some workers still wait{after}."
    errors = [task.exception() for task in asked if task.status == "error"]
    strange = [error for error in errors if not isinstance(error, BuildFailed)]
    if strange:
        return f"{type(strange[0]).__name__}: {strange[0]}"
    came = [task.result() for task in asked if task.status == "finished"]
    builds = sorted(tuple(map(float, path.read_text().split())) for path in folder.glob("build-*"))
    if trial.is_there and builds:
        return f"the file was there already, and {len(builds)} of {len(addresses)} workers built it again."
    if not (trial.is_there or builds):
        return "no worker called build()."
    if wrong := next((answer for answer in came if answer.digest != right), None):
        return (
            f"a worker got {wrong.length:,} of {_SIZE * trial.times:,} bytes: it read before the builder had written."
        )
    if not file.is_file() or _digest(file.read_bytes()) != right:
        return "the file does not hold the kernel afterwards, so the next process would build again."
    if len(builds) > 1:
        overlap = any(later[0] < earlier[1] for earlier, later in pairwise(builds))
        why = "at the same time" if overlap else "one after the other: they waited, and built all the same"
        return f"{len(builds)} of {len(addresses)} workers built, {why}."
    if len(errors) != trial.fails:
        return "the error of build() must reach the worker that built, and no other worker."
    built = builds[0][1] if builds else 0.0
    waited = max(answer.ended - max(answer.began, built) for answer in came)
    if waited > _LATE and not trial.late:
        return f"a worker waited for {waited:.1f} s although the file was there: wait for the builder, not for a time."
    return None


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


class Answer(NamedTuple):
    """What `get_or_build` returned to a worker, and when it was called and returned."""

    length: int
    digest: bytes
    began: float
    ended: float


def ask(get_or_build: GetOrBuild, file: Path, build: Callable[[], bytes], begin: float, patience: float) -> Answer:
    """Wait until `begin`, then at most `patience` seconds until `file` appears; call `get_or_build(file, build)`.

    So all workers call at the same time, and a race is seen.
    """
    time.sleep(max(0.0, begin - time.time()))
    deadline = time.time() + patience
    while time.time() < deadline and not file.exists():
        time.sleep(0.001)
    began = time.time()
    content = get_or_build(file, build)
    ended = time.time()
    content = bytes(content) if isinstance(content, bytes | bytearray) else b""
    return Answer(len(content), _digest(content), began, ended)


class BuildFailed(RuntimeError):
    """The error of a build that is meant to fail."""


def slow_build(folder: Path, content: bytes, fails: bool, seconds: float, times: int) -> bytes:
    """Take `seconds`, note the beginning and the end in `folder`, and return `content`. The first call may fail.

    `content` is repeated `times`.
    """
    if fails:
        with suppress(FileExistsError):
            (folder / "failed").touch(exist_ok=False)
            raise BuildFailed
    start = time.time()
    time.sleep(seconds)
    (folder / f"build-{secrets.token_hex(4)}").write_text(f"{start} {time.time()}")
    return content * times


def check_exchange(exchange: Callable[[list[np.ndarray]], None]) -> None:
    """Print whether `exchange(strips)` fills all halos after a step, for random plates cut into 1 to 5 strips."""
    random = np.random.default_rng()
    for count, height in ((3, 12), (2, 4), (5, 16), (4, 9), (1, 6)):
        plate = random.random((height, 8), np.float32)
        rows = [with_halos(rank, count, height) for rank in range(count)]
        given = [stepped(plate[each.start : each.stop]) for each in rows]
        before, after, strips = [strip.copy() for strip in given], stepped(plate), list(given)
        cut = f"{count} strip{'s' * (count > 1)}"
        try:
            exchange(strips)
        except (IndexError, ValueError) as error:
            return print(f"Not yet: {cut}: {type(error).__name__}: {error}")
        for number, each in enumerate(rows):
            if fault := _wrong_row(given[number], before[number], after[each.start : each.stop]):
                if not any(strip is given[number] for strip in strips):
                    fault = "the list holds another array now; write into the array that came."
                return print(f"Not yet: {cut}: strip {number}, {fault}")
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
