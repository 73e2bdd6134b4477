"""The judge of a cache with a queue: eight processes ask for one file, and one of them builds it."""

import multiprocessing
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_barrier: Any = None
_LIMIT = 20.0
_SIZE = 12_000
_TRIALS = {  # how long a build takes, and how often it gives the kernel's bytes
    "all ask at once": (0.1, 1),
    "the first build fails": (0.5, 1),  # longer, so that no fixed waiting time suits both
    "the file is there": (0.1, 1),
    "some ask while it is written": (0.1, 4000),
}


class BuildFailed(RuntimeError):
    """The error of a build that is meant to fail."""


def check_get_or_build(get_or_build: Callable[[Path, Callable[[], bytes]], bytes]) -> str:
    """Judge `get_or_build(file, build)`, which returns a file's bytes, or builds and writes them once for all."""
    import cloudpickle  # comes with Dask: a function of a notebook travels by its text

    context = multiprocessing.get_context("spawn")
    words = cloudpickle.dumps(get_or_build)
    with TemporaryDirectory() as place, context.Pool(8, _begin, (context.Barrier(8),)) as pool:
        for trial, (_, times) in _TRIALS.items():
            file, content = Path(place, trial, "kernel.cubin"), secrets.token_bytes(_SIZE)
            file.parent.mkdir()
            if trial == "the file is there":
                file.write_bytes(content)
            asked = pool.starmap_async(_ask, [(words, number, trial, file, content) for number in range(8)], 1)
            try:
                came = asked.get(_LIMIT)
            except multiprocessing.TimeoutError:
                return f"Not yet: {trial}: after {_LIMIT:g} s some processes still wait."
            except Exception as error:
                return f"Not yet: {trial}: {type(error).__name__}: {error}"
            if fault := _fault(came, file, content * times, trial):
                return f"Not yet: {trial}: {fault}"
    return "Right: one build for 8 processes, even after an error."


def _begin(shared: Any) -> None:
    global _barrier
    _barrier = shared


def _ask(words: bytes, number: int, trial: str, file: Path, content: bytes) -> tuple[bytes | None, float]:
    """Call the learner's function in a process of the pool; return its bytes (None after an error), and when."""
    import cloudpickle

    get_or_build, (seconds, times) = cloudpickle.loads(words), _TRIALS[trial]

    def build() -> bytes:
        if trial == "the first build fails":
            try:
                (file.parent / "failed").touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                raise BuildFailed
        time.sleep(seconds)
        (file.parent / f"build-{os.getpid()}").touch()
        return content * times

    _barrier.wait()
    end = time.time() + _LIMIT
    while trial == "some ask while it is written" and number and not file.exists() and time.time() < end:
        time.sleep(0.001)
    try:
        return get_or_build(file, build), time.time()
    except BuildFailed:
        return None, time.time()


def _fault(came: list[tuple[bytes | None, float]], file: Path, right: bytes, trial: str) -> str | None:
    """Return what is wrong after a trial."""
    builds = sorted(each.stat().st_mtime for each in file.parent.glob("build-*"))
    if trial == "the file is there" and builds:
        return f"{len(builds)} of 8 processes built it again."
    if trial != "the file is there" and not builds:
        return "no process called build()."
    if [answer for answer, _ in came].count(None) != (trial == "the first build fails"):
        return "the error of build() must reach the process that built, and no other."
    if wrong := [answer for answer, _ in came if answer not in (None, right)]:
        length = len(wrong[0]) if isinstance(wrong[0], bytes) else 0
        return f"a process got {length:,} of {len(right):,} bytes: it read before the builder had written."
    if not file.is_file() or file.read_bytes() != right:
        return "the file does not hold the kernel afterwards, so the next process would build again."
    if len(builds) > 1:
        at_once = builds[-1] - builds[0] < 0.1
        why = "at the same time" if at_once else "one after the other: they waited, and built all the same"
        return f"{len(builds)} of 8 processes built, {why}."
    if builds and max(ended for _, ended in came) - builds[0] > 1 and len(right) == _SIZE:
        return "a process waited on although the file was there: wait for the builder, not for a time."
    return None
