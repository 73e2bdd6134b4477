"""Execute lessons cell by cell, and skip the cells that this machine cannot run."""

import asyncio
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fourways import files, kernels, tables, toolchain
from fourways.lesson.needs import skip_reason
from fourways.lesson.notebook import Lesson
from fourways.lesson.recorded import digest, kernel_hashes

RECORDS = "FOURWAYS_RECORDS"
"""The environment variable that is set in a lesson that is recorded (`measuring.rounds`)."""
Progress = Callable[[Lesson, int, int], None]
"""Called before each code cell with the lesson, the cell's number from 1, and the number of code cells."""


@dataclass
class LessonRun:
    """The result of running a lesson: its code cells run, those skipped by reason, the seconds, and the error or ""."""

    lesson: Lesson
    notebook: Any = None
    ran: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    error: str = ""
    kept: bool = False

    @property
    def outcome(self) -> str:
        """`passed`, `failed`, or `kept`: it passed before, and nothing that it depends on has changed since."""
        return "failed" if self.error else "kept" if self.kept else "passed"

    @property
    def gaps(self) -> str:
        """Why this is no complete run: its error, or its skipped cells with the reasons; "" for a complete one.

        A cell may be skipped if it lacks a package in `may_skip` of the lesson's front matter.
        """
        if self.error:
            return self.error
        allowed = {toolchain.missing(package) for package in self.lesson.meta.get("may_skip", ())}
        return "; ".join(f"{count} cells skipped: {why}" for why, count in self.skipped.items() if why not in allowed)


class Interrupted(Exception):
    """A run that SIGINT, SIGTERM or SIGHUP ended. All of its Jupyter kernels have ended, too."""

    def __init__(self, signal: signal.Signals) -> None:
        super().__init__(f"interrupted by {signal.name}")
        self.signal = signal


def at_once() -> int:
    """Return how many lessons run at the same time: one on a machine with a GPU, for they measure; else one per CPU."""
    return 1 if toolchain.gpus() else len(os.sched_getaffinity(0))


def run_all(
    lessons: Sequence[Lesson],
    progress: Progress = lambda *_: None,
    ended: Callable[[LessonRun], None] = lambda _: None,
    timeout: int = 600,
    wrong: bool = False,
    record: bool = False,
    jobs: int | None = None,
    keep: bool = False,
) -> list[LessonRun]:
    """Execute lessons, `jobs` at a time (default: `at_once()`), each in a fresh Jupyter kernel of this interpreter.

    Returns the results in the order of `lessons`; `ended` is called with each result when its lesson ends. A failing
    cell, or a file that cannot be read or written, ends its lesson, not the others. `timeout` is in seconds per cell.
    `wrong` also runs the cells tagged `wrong`,
    as tests do; `record` repeats slow measurements as often as a recording needs. The executed notebooks are written
    to `build/lessons/NN_slug.ipynb`. A complete run that was alone on the machine is stamped there with the machine's
    versions and its `kernel_hashes`, so that the book can show it. With `keep`, a lesson that passed before, and whose
    text, kernels, packages and tools are still the same, keeps that run's notebook, and does not run.
    Raises Interrupted if a signal ends the run; the results of unfinished lessons are lost.
    """
    ended_by: list[signal.Signals] = []

    async def all_of_them() -> list[LessonRun]:
        free, everything = asyncio.Semaphore(jobs or at_once()), asyncio.current_task()
        assert everything

        def end(by: signal.Signals) -> None:
            ended_by.append(by)
            everything.cancel()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup sets SIG_IGN
                asyncio.get_running_loop().add_signal_handler(number, end, number)

        async def one(lesson: Lesson) -> LessonRun:
            result = LessonRun(lesson)
            try:
                if not (keep and _restore(result, shared)):
                    _check_writable(lesson)
                    async with free:
                        result.notebook = deepcopy(lesson.whole if wrong else lesson.notebook)
                        await _run(result, progress, timeout, {RECORDS: "1"} if record else {})
                    if not (wrong or result.gaps) and alone:
                        made = {"kernels": kernel_hashes(lesson), "seconds": round(result.seconds, 1)}
                        result.notebook.metadata.setdefault("fourways", {})["stamp"] = toolchain.stamp() | made
                    _write(result, None if wrong or not (alone or not toolchain.gpus()) else shared)
            except (OSError, ValueError) as error:
                result.error = result.error or f"its files: {error}"
            ended(result)
            return result

        return await asyncio.gather(*map(one, lessons))

    alone, shared = min(jobs or at_once(), len(lessons)) == 1, _shared()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        return asyncio.run(all_of_them())
    except asyncio.CancelledError:
        raise Interrupted(ended_by[0]) from None
    finally:
        for number, handler in handlers.items():  # asyncio leaves the default ones
            signal.signal(number, handler)


async def _run(result: LessonRun, progress: Progress, timeout: int, variables: dict[str, str]) -> None:
    """Execute the cells of the result's notebook, and note in the result what happens."""
    import nbformat
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    code_cells = [(i, cell) for i, cell in enumerate(result.notebook.cells) if cell.cell_type == "code"]
    start, number = time.perf_counter(), 0
    try:
        async with _kernel(result.notebook, timeout, variables) as client:
            for number, (index, cell) in enumerate(code_cells, 1):
                progress(result.lesson, number, len(code_cells))
                if reason := skip_reason(cell):
                    result.skipped[reason] += 1
                    note = f"Skipped: {reason}\n"
                    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=note)]
                    continue
                await client.async_execute_cell(cell, index, execution_count=number)
                result.ran += 1
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        if (task := asyncio.current_task()) and task.cancelling():  # nbclient reports this as a dead kernel
            raise asyncio.CancelledError from None
        result.error = f"code cell {number}:\n{files.plain(str(error)).strip()}"
    except (RuntimeError, OSError) as error:  # raised by the Jupyter kernel or its sockets
        result.error = f"Jupyter: {files.plain(str(error)).strip()}"
    result.seconds = time.perf_counter() - start
    for cell in result.notebook.cells:
        cell.metadata.pop("execution", None)  # time stamps of single messages


def _executed(lesson: Lesson) -> Path:
    return kernels.root() / "build" / "lessons" / f"{lesson.slug}.ipynb"


def _check_writable(lesson: Lesson) -> None:
    path = _executed(lesson)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.check_writable(path)


def _shared() -> bytes:
    """Return the SHA-256 of all that the runs of all lessons depend on: this clone's code, packages, tools, machine."""
    folders = [
        kernels.root() / name for name in ("cpp", "scripts", "book/recorded", "book/results", "lessons/programs")
    ]
    code = sorted(
        path for folder in folders for path in folder.rglob("*.*") if path.suffix != ".pyc" and path.is_file()
    )
    code += kernels.root().glob("requirements.lock")
    stamp = {key: value for key, value in toolchain.stamp().items() if key not in ("commit", "clean", "date")}
    lacking = {need: toolchain.missing(need) for need in (*toolchain.PACKAGES, "gpu", "cupy", "pycuda", "fourways_aot")}
    here = json.dumps([stamp, lacking, toolchain.distributions(*toolchain.PACKAGES)])
    return digest([here.encode(), *(path.read_bytes() for path in code)]).encode()


def _write(result: LessonRun, shared: bytes | None) -> None:
    """Write an executed notebook and, if it passed and `shared` is given, beside it what `_restore` reads."""
    import nbformat

    path, text = _executed(result.lesson), nbformat.writes(result.notebook)
    files.write_text(path, text)
    if shared and not result.error:
        told = {"ran": result.ran, "skipped": result.skipped, "seconds": result.seconds}
        depends = digest([shared, result.lesson.path.read_bytes(), text.encode()])
        files.write_text(path.with_suffix(".json"), json.dumps({"depends": depends, **told}))


def _restore(result: LessonRun, shared: bytes) -> bool:
    """Fill in the result of the run that passed before, and return whether nothing has changed since."""
    import nbformat

    path = _executed(result.lesson)
    try:
        told, text = json.loads(path.with_suffix(".json").read_bytes()), path.read_bytes()
        if told["depends"] != digest([shared, result.lesson.path.read_bytes(), text]):
            return False
    except (OSError, ValueError, LookupError, TypeError):
        return False
    result.notebook, result.kept = nbformat.reads(text.decode(), 4), True
    result.ran, result.skipped, result.seconds = told["ran"], Counter(told["skipped"]), told["seconds"]
    return True


@asynccontextmanager
async def _kernel(notebook: Any, timeout: int, variables: dict[str, str]) -> AsyncIterator[Any]:
    """Start a Jupyter kernel of this interpreter, whatever kernels are installed, and yield its notebook client."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    class ThisInterpreter(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            launcher = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            launcher += ["--log-level=CRITICAL"]  # ended by Ctrl-C in the middle of a cell, it would print an error
            return KernelSpec(argv=launcher)

    resources = {"metadata": {"path": str(kernels.root() / "lessons")}}
    with TemporaryDirectory(prefix="fourways-", dir="/tmp") as sockets:  # a socket's path must be short
        manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=ThisInterpreter(),
            transport="ipc",  # no TCP port that others could reach
            ip=f"{sockets}/kernel",
        )
        client = NotebookClient(notebook, km=manager, timeout=timeout, resources=resources, coalesce_streams=True)
        # not nbclient's setup_kernel, which handles Ctrl-C for one kernel only
        try:
            await client.async_start_new_kernel(env=toolchain.child_environment() | variables)
            await client.async_start_new_kernel_client()
            yield client
        finally:
            if client.kc:
                client.kc.stop_channels()
            if manager.has_kernel:
                await manager.shutdown_kernel()


def outcomes(results: list[LessonRun]) -> tables.Table:
    """Return the table that closes a run: lesson, cells run, cells skipped with the reasons, seconds, outcome."""
    rows = [
        {
            "lesson": result.lesson.slug,
            "ran": result.ran,
            "skipped": dict(result.skipped),
            "seconds": result.seconds,
            "outcome": result.outcome,
        }
        for result in results
    ]
    columns: list[tables.Column] = [
        "lesson",
        ("cells run", "ran"),
        ("cells skipped", lambda row: "\n".join(f"{n}: {why}" for why, n in row["skipped"].items()) or "0"),
        ("seconds", lambda row: f"{row['seconds']:.1f}"),
        "outcome",
    ]
    note = "Kept: text, kernels, packages and tools are those of an earlier run. To run a lesson all the same, name it."
    return tables.Table("lessons", rows, columns, note if any(result.kept for result in results) else "")
