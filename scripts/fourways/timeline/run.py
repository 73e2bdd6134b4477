"""Runs a lesson or a program in a fresh process in which CUPTI records."""

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
    """No timeline could be recorded; the message is one line with the remedy, or the failed process's own words."""


def of_lesson(found: lesson.Lesson | Case, way: str | None, size: int = GPU_SIZE) -> list[Row]:
    """Run one way of a lesson or a case in a fresh process, or with None all cells of a lesson; return what it did.

    A way goes through stages, each an NVTX range: import (twice, the lesson's and the way's; CuPy, which the ranges
    need, is there before), context, inputs, build, load (within build or launch; for pybind11 its import), launch,
    warm launches (ten, waited for once), copy back. Its arrays have `size` elements, its answer is checked.

    Rows are in order of time. All have `kind` (kernel, copy, memset, graph, API call, synchronization, NVTX range),
    `name`, `clock` (device or host), `start_seconds` from the first row's start, and `seconds`. Work on the GPU also
    has `stream`, copies and memsets `bytes`, kernels `grid`, `block`, `registers` and
    `symbol` (the name in the machine code; `name` is its readable part), API calls `thread`.
    Raises TimelineError where that is not possible here or the process fails, LessonError for a way it lacks.
    """
    if way and is_host(way):
        raise TimelineError("the host way leaves the GPU idle: choose another way for a timeline")
    stages = [f"--way={way}", f"--size={size}"] if way else []
    if isinstance(found, Case):
        if not way:
            raise TimelineError(f"{found.path.name} has no cells: choose a way for a timeline")
        if not toolchain.missing("gpu"):
            WAYS[way].prepare(found)  # built here, or the compiler would be on the timeline
        stages += [f"--entry={found.entry}", *([f"--case={found.file}"] if found.file else [])]
        return _recorded([str(found.path), *stages], way, f"{found.path.name}, {way}", found.path.parent)
    if way and not found.cells(f"way-{way}"):
        raise InputError(f"{found.slug} has no cell tagged way-{way}")
    return _recorded([found.number, *stages], way or "gpu", f"{found.slug}, {way or 'all cells'}", found.path.parent)


def of_program(path: Path, *arguments: str) -> list[Row]:
    """Run a Python program, as `python path arguments` would, in a fresh process, and return what it did.

    Rows are those of `of_lesson`; NVTX ranges are the program's own (`cupyx.profiler.time_range`). It must wait for the
    GPU before it ends. Raises TimelineError where recording is not possible here or the program fails.
    """
    return _recorded(["--", str(path), *arguments], "gpu", path.name, path.parent)


def _recorded(arguments: list[str], need: str, what: str, folder: Path) -> list[Row]:
    """What `timeline_process` with these arguments does in a folder; `need` is what must be on this machine."""
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
