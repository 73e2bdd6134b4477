"""Lessons, cases and programs run in a fresh process in which CUPTI records."""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fourways import lesson, process, toolchain
from fourways.case import Case
from fourways.kernels import InputError
from fourways.tables import Row
from fourways.timeline.trace import gpu_work
from fourways.ways import GPU_SIZE, WAYS, is_host, missing


class TimelineError(RuntimeError):
    """A timeline that could not be recorded; the message has the remedy, or the error of the failed process."""


def of_lesson(target: lesson.Lesson | Case, way: str, size: int = GPU_SIZE) -> list[Row]:
    """Record a way of a lesson or a case in a fresh process, and return the rows.

    A way runs in stages, each an NVTX range: import (twice: the lesson's and the way's; CuPy, which the ranges need, is
    imported before), context, inputs, build, load (within build or launch; for pybind11 its import), launch, warm
    launches (ten, with one wait at the end), copy back. Its arrays have `size` elements, and its answer is checked.

    Rows are in order of time. All have `kind` (kernel, copy, memset, graph, API call, synchronization, NVTX range),
    `name`, `clock` (device or host), `start_seconds` from the first row's start, and `seconds`. Work on the GPU also
    has `stream`, copies and memsets have `bytes`, API calls have `thread`, and kernels have `grid`, `block`,
    `registers` and `symbol` (the name in the machine code, of which `name` is the readable part).
    Raises TimelineError if this machine cannot record or the process fails, InputError if the lesson lacks the way.
    """
    if is_host(way):
        raise TimelineError("the host way leaves the GPU idle: choose another way for a timeline")
    name = target.slug if isinstance(target, lesson.Lesson) else target.path.name
    if isinstance(target, lesson.Lesson) and not target.cells(f"way-{way}"):
        raise InputError(f"{name} has no cell tagged way-{way}")
    _require(way)
    with TemporaryDirectory(prefix="fourways-") as folder:
        # a case's module is built here, to keep the compiler off the timeline
        binding = WAYS[way].prepare(target) if isinstance(target, Case) else None
        task = lesson.task(target, way, size, Path(folder), binding)
        return _recorded(task, f"{name}, {way}", target.path.parent)


def of_program(program: Path | str, *arguments: str) -> list[Row]:
    """Record a Python file, or a text, with these arguments in a fresh process, and return the rows.

    Rows are those of `of_lesson`; NVTX ranges are the program's (`cupyx.profiler.time_range`). The program must wait
    for the GPU before it ends. Raises TimelineError if this machine cannot record or the program fails.
    """
    _require("gpu")
    with TemporaryDirectory(prefix="fourways-") as folder:
        path = Path(folder, "program.py") if isinstance(program, str) else program
        if isinstance(program, str):
            path.write_text(program, encoding="utf-8")
        return _recorded({"program": [str(path), *arguments]}, path.name, path.parent)


def _require(need: str) -> None:
    """Raise TimelineError if this machine lacks `need`, a way or a need of `toolchain.missing`, or cannot record."""
    if reason := missing(need, of_case=True) if need in WAYS else toolchain.missing(need):
        raise TimelineError(f"no timeline: {reason}")
    if not toolchain.installed("cupti"):
        raise TimelineError("no timeline: the package cupti-python is not installed: pip install cupti-python")


def _recorded(task: dict[str, Any], what: str, folder: Path) -> list[Row]:
    """Give `timeline_process` a task in `folder`, and return the rows. `what` names the run in errors."""
    program = Path(__file__).with_name("timeline_process.py")
    try:
        ended = process.run(program, task, toolchain.child_environment(), folder, timeout=600)
    except subprocess.TimeoutExpired:
        raise TimelineError(f"{what}: no timeline within ten minutes; ask for fewer elements") from None
    if ended.status or not ended.answer:
        told = ended.words or f"exit code {ended.status}"
        raise TimelineError(f"{what}: the recorded process failed:\n{told}")
    rows = ended.answer["rows"]
    if not gpu_work(rows):
        raise TimelineError(f"{what}: CUPTI recorded no work on the GPU")
    return rows
