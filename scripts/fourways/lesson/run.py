"""Execute lessons cell by cell, and skip the cells that this machine cannot run."""

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from fourways import files, kernels, tables, toolchain
from fourways.lesson.needs import skip_reason
from fourways.lesson.notebook import Lesson
from fourways.lesson.recorded import kernel_hashes, program_hashes


@dataclass
class LessonRun:
    """The result of running a lesson: its code cells run, those skipped by reason, the seconds, and the error or ""."""

    lesson: Lesson
    notebook: Any = None
    ran: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    error: str = ""

    @property
    def outcome(self) -> str:
        """`passed` or `failed`."""
        return "failed" if self.error else "passed"

    @property
    def gaps(self) -> str:
        """Why this is no complete run: its error, or its skipped cells with the reasons; "" for a complete one.

        A cell may be skipped if it lacks a package in `may_skip` of the lesson's front matter.
        """
        if self.error:
            return self.error
        allowed = {toolchain.missing(package) for package in self.lesson.meta.get("may_skip", ())}
        return "; ".join(f"{count} cells skipped: {why}" for why, count in self.skipped.items() if why not in allowed)


Progress = Callable[[Lesson, int, int], None]
"""Called before each code cell with the lesson, the cell's number from 1, and the number of code cells."""


def at_once() -> int:
    """Return how many lessons run at the same time: one on a machine with a GPU, for they measure; else one per CPU."""
    return 1 if toolchain.gpus() else len(os.sched_getaffinity(0))


def run_all(
    lessons: Sequence[Lesson],
    progress: Progress = lambda *_: None,
    ended: Callable[[LessonRun], None] = lambda _: None,
    timeout: int = 600,
    jobs: int | None = None,
) -> list[LessonRun]:
    """Execute lessons, `jobs` at a time (default: `at_once()`), each in a fresh Jupyter kernel of this interpreter.

    Returns the results in the order of `lessons`; `ended` is called with each result when its lesson ends. A failing
    cell, or a file that cannot be read or written, ends its lesson, not the others. `timeout` is in seconds per cell.
    The executed notebooks are written to `build/lessons/NN_slug.ipynb`. A complete run that was alone on the machine is
    stamped there with the machine's versions and its `kernel_hashes`, so that the book can show it.
    Ctrl-C, or SystemExit in a signal's handler, ends all Jupyter kernels; the results of unfinished lessons are lost.
    """
    jobs = jobs or at_once()
    alone, variables = min(jobs, len(lessons)) == 1, toolchain.child_environment()
    ending, one_at_a_time = threading.Event(), threading.Lock()

    def one(lesson: Lesson) -> LessonRun:
        result = LessonRun(lesson)
        try:
            _path(lesson).parent.mkdir(parents=True, exist_ok=True)
            files.check_writable(_path(lesson))
            result.notebook = deepcopy(lesson.notebook)
            _execute(result, progress, timeout, variables)
            if not ending.is_set():
                _write(result, stamped=alone and not result.gaps)
        except (OSError, ValueError) as error:
            result.error = result.error or f"its files: {error}"
        with one_at_a_time:  # before this thread's next lesson, which may measure
            if not ending.is_set():
                ended(result)
        return result

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(one, lesson) for lesson in lessons]
        try:
            wait(futures)
        except BaseException:
            ending.set()
            pool.shutdown(wait=False, cancel_futures=True)
            _kill_kernels(futures)
            raise
    return [future.result() for future in futures]


def _path(lesson: Lesson) -> Path:
    return kernels.root() / "build" / "lessons" / f"{lesson.slug}.ipynb"


def _write(result: LessonRun, stamped: bool) -> None:
    import nbformat

    if stamped:
        made = {"kernels": kernel_hashes(result.lesson), "seconds": round(result.seconds, 1)}
        made |= {"programs": program_hashes(result.lesson)}
        result.notebook.metadata.setdefault("fourways", {})["stamp"] = toolchain.stamp() | made
    files.write_text(_path(result.lesson), nbformat.writes(result.notebook))


def outcomes(results: list[LessonRun]) -> tables.Table:
    """Return the table that closes a run: lesson, cells run, cells skipped with the reasons, time, outcome."""
    rows = [
        {
            "lesson": result.lesson.slug,
            "cells run": result.ran,
            "cells skipped": "\n".join(f"{count}: {why}" for why, count in result.skipped.items()) or "0",
            "took_seconds": result.seconds,
            "outcome": result.outcome,
        }
        for result in results
    ]
    return tables.Table("lessons", rows)


def _kill_kernels(futures: Sequence[Future[LessonRun]]) -> None:
    """Kill what this process has started until all lessons have ended: one may just be starting its kernel."""
    while wait(futures, timeout=0.5).not_done:
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                process.kill()


def _execute(result: LessonRun, progress: Progress, timeout: int, environment: dict[str, str]) -> None:
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from nbformat.v4 import new_output

    total = sum(cell.cell_type == "code" for cell in result.notebook.cells)
    start, number = time.perf_counter(), 0

    class Client(NotebookClient):
        async def async_execute_cell(self, cell: Any, cell_index: int, *_: Any, **__: Any) -> Any:
            nonlocal number
            if cell.cell_type != "code":
                return cell
            number += 1
            progress(result.lesson, number, total)
            if reason := skip_reason(cell):
                result.skipped[reason] += 1
                cell.outputs = [new_output("stream", name="stdout", text=f"Skipped: {reason}\n")]
                return cell
            await super().async_execute_cell(cell, cell_index, execution_count=number)
            result.ran += 1
            return cell

    resources = {"metadata": {"path": str(kernels.root() / "lessons")}}
    with TemporaryDirectory(prefix="fourways-", dir="/tmp") as sockets:  # a socket's path must be short
        # ipc opens no TCP port that others could reach
        manager = AsyncKernelManager(kernel_spec_manager=_this_interpreter(), transport="ipc", ip=f"{sockets}/kernel")
        client = Client(result.notebook, manager, timeout=timeout, resources=resources, coalesce_streams=True)
        try:
            client.execute(cleanup_kc=True, env=environment)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            result.error = f"code cell {number}:\n{files.plain(str(error)).strip()}"
        except (RuntimeError, OSError) as error:  # raised by the Jupyter kernel or its sockets
            result.error = f"Jupyter: {files.plain(str(error)).strip()}"
    result.seconds = time.perf_counter() - start
    result.notebook.metadata.pop("language_info", None)
    for cell in result.notebook.cells:
        cell.metadata.pop("execution", None)  # time stamps of single messages


def _this_interpreter() -> Any:
    """Return a Jupyter manager whose one kernel is this interpreter, whatever kernels are installed."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

    class ThisInterpreter(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            # an error that ends the kernel is the lesson's, so the kernel logs none
            launcher = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=CRITICAL"]
            return KernelSpec(argv=launcher)

    return ThisInterpreter()
