"""Lessons, cases and programs run in a fresh process in which CUPTI records."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fourways import lesson, toolchain
from fourways.case import Case
from fourways.kernels import InputError
from fourways.tables import Row
from fourways.timeline.trace import gpu_work
from fourways.ways import GPU_SIZE, WAYS, is_host, missing


class TimelineError(RuntimeError):
    """A timeline that could not be recorded; the message has the remedy, or the error of the failed process."""


def of_lesson(target: lesson.Lesson | Case, way: str | None, size: int = GPU_SIZE) -> list[Row]:
    """Record a way of a lesson or a case in a fresh process, or for None all cells of a lesson; return the rows.

    A way runs in stages, each an NVTX range: import (twice: the lesson's and the way's; CuPy, which the ranges need, is
    imported before), context, inputs, build, load (within build or launch; for pybind11 its import), launch, warm
    launches (ten, with one wait at the end), copy back. Its arrays have `size` elements, and its answer is checked.

    Rows are in order of time. All have `kind` (kernel, copy, memset, graph, API call, synchronization, NVTX range),
    `name`, `clock` (device or host), `start_seconds` from the first row's start, and `seconds`. Work on the GPU also
    has `stream`, copies and memsets have `bytes`, API calls have `thread`, and kernels have `grid`, `block`,
    `registers` and `symbol` (the name in the machine code, of which `name` is the readable part).
    Raises TimelineError if this machine cannot record or the process fails, InputError if the lesson lacks the way.
    """
    if way and is_host(way):
        raise TimelineError("the host way leaves the GPU idle: choose another way for a timeline")
    stages = [f"--way={way}", f"--size={size}"] if way else []
    if isinstance(target, Case):
        if not way:
            raise TimelineError(f"{target.path.name} has no cells: choose a way for a timeline")
        if not toolchain.missing("gpu"):
            WAYS[way].prepare(target)  # built here, to keep the compiler off the timeline
        stages += [f"--entry={target.entry}", *([f"--case={target.file}"] if target.file else [])]
        return _recorded([str(target.path), *stages], way, f"{target.path.name}, {way}", target.path.parent)
    if way and not target.cells(f"way-{way}"):
        raise InputError(f"{target.slug} has no cell tagged way-{way}")
    return _recorded([target.number, *stages], way or "gpu", f"{target.slug}, {way or 'all cells'}", target.path.parent)


def of_program(path: Path, *arguments: str) -> list[Row]:
    """Record the Python program `path` with these arguments in a fresh process, and return the rows.

    Rows are those of `of_lesson`; NVTX ranges are the program's (`cupyx.profiler.time_range`). The program must wait
    for the GPU before it ends. Raises TimelineError if this machine cannot record or the program fails.
    """
    return _recorded(["--", str(path), *arguments], "gpu", path.name, path.parent)


def _recorded(arguments: list[str], need: str, what: str, folder: Path) -> list[Row]:
    """Run `timeline_process` with these arguments in `folder`, and return the rows.

    `need` is a way or a need of `toolchain.missing`; `what` names the run in errors.
    """
    if reason := missing(need, of_case=True) if need in WAYS else toolchain.missing(need):
        raise TimelineError(f"no timeline: {reason}")
    if not toolchain.installed("cupti"):
        raise TimelineError(f"no timeline: the package cupti-python is not installed: {toolchain.SETUP}")
    with TemporaryDirectory(prefix="fourways-") as scratch:
        file = Path(scratch, "rows.json")
        words = [sys.executable, "-m", "fourways.timeline.timeline_process", f"--record={file}", *arguments]
        environment = toolchain.child_environment()
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=600, env=environment, cwd=folder)
        except subprocess.TimeoutExpired:
            raise TimelineError(f"{what}: no timeline within ten minutes; ask for fewer elements") from None
        if done.returncode:
            told = done.stderr.strip() or f"exit code {done.returncode}"
            raise TimelineError(f"{what}: the recorded process failed:\n{told}")
        rows = json.loads(file.read_text(encoding="utf-8"))
    if not gpu_work(rows):
        raise TimelineError(f"{what}: CUPTI recorded no work on the GPU")
    return rows
