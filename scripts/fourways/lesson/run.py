"""Execute lessons cell by cell, and skip what this machine cannot run."""

import asyncio
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

from fourways import files, kernels, tables, toolchain
from fourways.lesson import nvtx
from fourways.lesson.needs import skip_reason
from fourways.lesson.notebook import Lesson

Progress = Callable[[Lesson, int, int], None]
"""Called before each code cell with the lesson, the cell's number from 1, and the number of code cells."""


@dataclass
class LessonRun:
    """What became of one lesson: code cells run, cells skipped by reason, seconds, and the error if there was one."""

    lesson: Lesson
    notebook: Any
    ran: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    error: str = ""

    @property
    def outcome(self) -> str:
        """`passed` or `failed`."""
        return "failed" if self.error else "passed"


class Interrupted(Exception):
    """A run that `signal` ended: SIGINT, SIGTERM or SIGHUP. No Jupyter kernel of it is left."""

    def __init__(self, signal: signal.Signals) -> None:
        super().__init__(f"interrupted by {signal.name}")
        self.signal = signal


def at_once() -> int:
    """How many lessons run at a time: one where there is a GPU, for they measure; else one a processor."""
    return 1 if toolchain.gpus() else len(os.sched_getaffinity(0))


def run(found: Lesson, progress: Progress = lambda *_: None, timeout: int = 600, wrong: bool = False) -> LessonRun:
    """Execute one lesson: `run_all`. With `wrong` also the wrong answers to its exercises, as tests do."""
    return run_all([found], progress, timeout=timeout, wrong=wrong)[0]


def run_all(
    lessons: Sequence[Lesson],
    progress: Progress = lambda *_: None,
    ended: Callable[[LessonRun], None] = lambda _: None,
    timeout: int = 600,
    wrong: bool = False,
) -> list[LessonRun]:
    """Execute lessons, `at_once()` at a time, each in a fresh Jupyter kernel of this interpreter.

    Returns what became of them, in the order of `lessons`; `ended` hears of each as it ends. A failing cell ends its
    lesson, not the others. `timeout` is in seconds a cell. The executed notebooks are also written to
    `build/lessons/NN_slug.ipynb`. With `FOURWAYS_NVTX` set, profilers see each cell as a range: `fourways.lesson.nvtx`.
    Raises Interrupted where a signal ends the run; of the lessons that were running then nothing is kept.
    """
    ended_by: list[signal.Signals] = []

    async def all_of_them() -> list[LessonRun]:
        free, everything = asyncio.Semaphore(at_once()), asyncio.current_task()
        assert everything

        def end(by: signal.Signals) -> None:
            ended_by.append(by)
            everything.cancel()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup sets it
                asyncio.get_running_loop().add_signal_handler(number, end, number)

        async def one(found: Lesson) -> LessonRun:
            async with free:
                result = await _run(found, found.whole if wrong else found.notebook, progress, timeout)
            ended(result)
            return result

        return await asyncio.gather(*map(one, lessons))

    try:
        return asyncio.run(all_of_them())
    except asyncio.CancelledError:
        raise Interrupted(ended_by[0]) from None


async def _run(found: Lesson, notebook: Any, progress: Progress, timeout: int) -> LessonRun:
    import nbformat
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    result = LessonRun(found, deepcopy(notebook))
    code_cells = [(i, cell) for i, cell in enumerate(result.notebook.cells) if cell.cell_type == "code"]
    start, number = time.perf_counter(), 0
    try:
        async with _kernel(found, result.notebook, timeout) as client:
            for number, (index, cell) in enumerate(code_cells, 1):
                progress(found, number, len(code_cells))
                if reason := skip_reason(cell):
                    result.skipped[reason] += 1
                    note = f"Skipped: {reason}\n"
                    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=note)]
                    continue
                await client.async_execute_cell(cell, index, execution_count=number)
                result.ran += 1
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        if (task := asyncio.current_task()) and task.cancelling():  # for which nbclient says that the kernel died
            raise asyncio.CancelledError from None
        result.error = f"code cell {number}:\n{files.plain(str(error)).strip()}"
    except (RuntimeError, OSError) as error:  # of the Jupyter kernel or its sockets
        result.error = f"Jupyter: {files.plain(str(error)).strip()}"
    result.seconds = time.perf_counter() - start
    for cell in result.notebook.cells:
        cell.metadata.pop("execution", None)  # time stamps of single messages
    path = kernels.root() / "build" / "lessons" / f"{found.slug}.ipynb"
    files.write_text(path, nbformat.writes(result.notebook))
    return result


@asynccontextmanager
async def _kernel(found: Lesson, notebook: Any, timeout: int) -> AsyncIterator[Any]:
    """A notebook client with a Jupyter kernel of this interpreter, whatever kernels are installed elsewhere."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    class ThisInterpreter(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            launcher = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            launcher += ["--log-level=CRITICAL"]  # Ctrl-C ends it in the middle of a cell, about which it complains
            return KernelSpec(argv=[*launcher, *nvtx.kernel_options()])

    resources = {"metadata": {"path": str(kernels.root() / "lessons")}}
    with TemporaryDirectory(prefix="fourways-", dir="/tmp") as sockets:  # a socket's path must be short
        manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=ThisInterpreter(),
            transport="ipc",  # no TCP port that others could reach
            ip=f"{sockets}/kernel",
        )
        client = NotebookClient(notebook, km=manager, timeout=timeout, resources=resources, coalesce_streams=True)
        # Not nbclient's own setup_kernel: it takes over Ctrl-C, for one kernel.
        try:
            await client.async_start_new_kernel(env=toolchain.child_environment() | {nvtx.LESSON: found.slug})
            await client.async_start_new_kernel_client()
            yield client
        finally:
            if client.kc:
                client.kc.stop_channels()
            if manager.has_kernel:
                await manager.shutdown_kernel()


def outcomes(results: list[LessonRun]) -> tables.Table:
    """The closing table: lesson, cells run, cells skipped and why, seconds, outcome."""
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
    columns = [
        ("lesson", lambda row: row["lesson"]),
        ("cells run", lambda row: str(row["ran"])),
        ("cells skipped", lambda row: "\n".join(f"{n}: {why}" for why, n in row["skipped"].items()) or "0"),
        ("seconds", lambda row: f"{row['seconds']:.1f}"),
        ("outcome", lambda row: row["outcome"]),
    ]
    return tables.Table("lessons", rows, columns)
