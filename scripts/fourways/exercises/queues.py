"""The judge of a cache with a queue: eight processes ask for one file, and one of them builds it."""

import multiprocessing
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FAILS, THERE, LATE = "the first build fails", "the file is there", "seven ask while the file is written"
_SECONDS = 0.2  # of a build
_barrier: Any = None


class BuildFailed(RuntimeError):
    """The error of a build that is meant to fail."""


def check_get_or_build(get_or_build: Callable[[Path, Callable[[], bytes]], bytes]) -> str:
    """Judge `get_or_build(file, build)`, which returns a file's bytes, or builds and writes them once for all."""
    import cloudpickle  # comes with Dask; a notebook's function travels to other processes by its text

    context = multiprocessing.get_context("spawn")
    function = cloudpickle.dumps(get_or_build)
    with TemporaryDirectory() as place, context.Pool(8, _begin, (context.Barrier(8),)) as pool:
        for trial in ("all ask at once", FAILS, THERE, LATE):
            file, content = Path(place, trial, "kernel.cubin"), secrets.token_bytes(12_000)
            content *= 4000 if trial == LATE else 1  # so much that a reader may come before the end
            file.parent.mkdir()
            if trial == THERE:
                file.write_bytes(content)
            asked = pool.starmap_async(_ask, [(function, i, trial, file, content) for i in range(8)], 1)
            try:
                came = asked.get(20)
            except multiprocessing.TimeoutError:
                return f"Not yet: {trial}: after 20 s some processes still wait."
            except Exception as error:
                return f"Not yet: {trial}: {type(error).__name__}: {error}"
            if fault := _fault(came, file, content, trial):
                return f"Not yet: {trial}: {fault}"
    return "Right: one build for 8 processes, even after an error."


def _begin(shared: Any) -> None:
    global _barrier
    _barrier = shared


def _ask(function: bytes, number: int, trial: str, file: Path, content: bytes) -> int | None:
    """Call the learner's function in a process of the pool; return how many right bytes came, None after an error."""
    import cloudpickle

    get_or_build = cloudpickle.loads(function)

    def build() -> bytes:
        time.sleep(_SECONDS)
        if trial == FAILS and not (file.parent / "failed").exists():
            (file.parent / "failed").touch()
            raise BuildFailed
        (file.parent / f"build-{os.getpid()}").touch()
        return content

    _barrier.wait()
    while trial == LATE and number and not file.exists():
        time.sleep(0.001)
    try:
        came = get_or_build(file, build)
    except BuildFailed:
        return None
    return len(came) if isinstance(came, bytes) and content.startswith(came) else 0


def _fault(came: list[int | None], file: Path, right: bytes, trial: str) -> str | None:
    """Return what is wrong after a trial."""
    builds = sorted(each.stat().st_mtime for each in file.parent.glob("build-*"))
    if len(builds) != (trial != THERE):
        at_once = builds and builds[-1] - builds[0] < _SECONDS * (len(builds) - 1)
        return f"{len(builds)} of 8 processes built, {'at the same time' if at_once else 'one after the other'}."
    if came.count(None) != (trial == FAILS):
        return "the error of build() must reach the process that built, and no other."
    if wrong := [length for length in came if length not in (None, len(right))]:
        return f"a process got {wrong[0]:,} of {len(right):,} bytes: it read before the builder had written."
    if not file.is_file() or file.read_bytes() != right:
        return "the file does not hold the kernel afterwards, so the next process would build again."
    return None
