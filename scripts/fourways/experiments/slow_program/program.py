"""The slow program: its inputs, its kernel in each form, a recording of a run, and the times after each repair.

The program's functions stand in the lesson. `written` puts them into a file of their own, because a profiler starts the
program that it looks at.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fourways import building, kernels, measuring, sass, tables, timeline, timeline_figure
from fourways.tables import Row, Table, summary

ROWS, COLUMNS = 2048, 512
"""The rows and columns of each matrix."""
AS_FOUND = "COLUMNS=1 ROOM=12288"
"""Macros of colmeans.cuh: the kernel as it was found."""
FORMS = (AS_FOUND, "ROOM=12288", "")
"""The launches of colmeans in the profile, in this order from 1: as found, after its first repair, and after both."""
Colmeans = Callable[[Any, Any], None]
"""A function of the matrices and their column means, CuPy's arrays, that launches colmeans."""
Analysis = Callable[[Colmeans, Any, Any], list[int]]
"""A function of `colmeans`, the matrices and their column means that returns the numbers of the matrices found."""
_EVERY, _THREADS = 100, 256
_EMPTY = """extern "C" __global__ void colmeans(const float *x, float *means, long long batch, long long rows,
                                    long long columns) {}"""
_PROGRAM = r'''"""{name}: in which matrices is the mean of a column above 1?"""
import sys

import numpy as np
from cupyx.profiler import profile, time_range

from fourways.experiments import slow_program


{analysis}

if __name__ == "__main__":
    count, *forms = sys.argv[1:]
    with time_range("inputs", sync=True):
        x, means = slow_program.measurements(int(count))
    for macros in forms:
        with time_range("build"):
            colmeans = slow_program.build(macros)
        {name}(colmeans, x, means)  # warm-up
        with profile(), time_range("analysis", sync=True):
            print({name}(colmeans, x, means))
'''


def folder() -> Path:
    """Return the folder of the lesson's programs and reports, build/07_profiling; make it if it is missing."""
    made = kernels.root() / "build" / "07_profiling"
    made.mkdir(parents=True, exist_ok=True)
    return made


def measurements(count: int | None = None) -> tuple[Any, Any]:
    """Return random matrices from 0 to 1 (count, ROWS, COLUMNS) and room for their column means (count, COLUMNS).

    Both are float32, on the GPU. Every hundredth matrix has a column with higher numbers. Without a `count` there are
    512 matrices (2 GiB), or as many as fit into a quarter of the GPU's memory.
    """
    import cupy as cp

    count = count or max(1, measuring.gpu_size(4, most=2**29) // (ROWS * COLUMNS))
    x = cp.random.default_rng(1).random((count, ROWS, COLUMNS), dtype=cp.float32)
    x[::_EVERY, :, 7] += 1
    return x, cp.empty((count, COLUMNS), cp.float32)


def build(macros: str) -> Colmeans:
    """Compile colmeans.cuh by NVRTC with macros such as "COLUMNS=1 ROOM=12288", and return a function that launches it.

    `#line` names the kernel's file, and `-lineinfo` notes the source line of each instruction, for the profiler.
    """
    path = kernels.path("colmeans")
    source = f'#line 1 "{path}"\n{path.read_text()}'
    options = ("-lineinfo", *(f"-D{macro}" for macro in macros.split()))
    return _launcher(source, options, 1 if "COLUMNS=1" in macros.split() else 32)


def empty() -> Colmeans:
    """Return a function that launches a kernel without a body, with the grid and the arguments of colmeans as found."""
    return _launcher(_EMPTY, (), 1)


def _launcher(source: str, options: tuple[str, ...], width: int) -> Colmeans:
    import cupy as cp

    kernel = cp.RawModule(code=source, options=options).get_function("colmeans")

    def colmeans(x: Any, means: Any) -> None:
        blocks = len(x) * -(-x.shape[2] // width)
        kernel((blocks,), (128,), (x, means, *map(np.int64, x.shape)))

    return colmeans


def record(analysis: Analysis, macros: str, count: int) -> list[Row]:
    """Record a run of the analysis in a process of its own, by CUPTI; return the rows of its second call.

    Prints why, and returns no rows, if this machine cannot record. A trace for ui.perfetto.dev stays in `folder()`.
    """
    try:
        rows = timeline.record(written(analysis), str(count), macros)
    except timeline.TimelineError as error:
        print(error)
        return []
    (folder() / f"{analysis.__name__}.json").write_text(timeline.trace_json(rows), encoding="utf-8")
    return timeline.part(rows, "analysis")


def written(analysis: Analysis) -> Path:
    """Write a program that runs an analysis, and return its file."""
    program = folder() / "analyse.py"
    text = _PROGRAM.format(name=analysis.__name__, analysis=inspect.getsource(analysis))
    program.write_text(text, encoding="utf-8")
    return program


def drawing(rows: Sequence[Row], title: str) -> Any:
    """Draw the rows of `record`: the whole analysis, and below it the first matrix; None without rows."""
    return timeline_figure.figure(rows, title, "one matrix") if rows else None


def sums(rows: Sequence[Row]) -> Table | None:
    """Sum up the work on the GPU in the rows of `record`, by name and in all; None without rows."""
    if not rows:
        return None
    table, work = timeline.table(rows), [row["seconds"] for row in rows if row["clock"] == "device"]
    table.note = f"{table.note} The GPU works for {tables.seconds(sum(work))}."
    return table


def race(runs: Mapping[str, tuple[Analysis, Colmeans]], x: Any, means: Any) -> Table:
    """Time analyses of the matrices `x`, each with its `colmeans` (host clock), in turns.

    The table has the name of the last run. Raises AssertionError if an analysis returns other matrices than every
    hundredth. An analysis with an empty kernel finds the means of the run before it, so it must not come first.
    """
    calls = {title: partial(analysis, colmeans, x, means) for title, (analysis, colmeans) in runs.items()}
    for title, call in calls.items():
        answer = call()
        assert answer == list(range(0, len(x), _EVERY)), f"{title}: {answer}"
    return measuring.time_calls(calls, clock="host", name="_".join(re.findall(r"\w+", list(calls)[-1])))


def forms(named: Mapping[str, str], x: Any, means: Any) -> Table:
    """Time colmeans with each form's macros (device clock), and the device copy of as many bytes.

    Raises AssertionError if a form's means are wrong.
    """
    right, calls = x.mean(axis=1), {name: partial(build(macros), x, means) for name, macros in named.items()}
    measuring.require_right(calls, means, lambda: abs(means - right).max() < 1e-4)
    timed = measuring.time_calls(calls, moved=x.nbytes, name="forms")
    timed.note = f"{len(x)} matrices."
    return timed


def iterated(text: str, steps: int, size: int) -> Callable[[], None]:
    """Return a function that launches the kernel `iterate(x, y, n)` of a text, compiled with STEPS, on `size` floats.

    Raises AssertionError if its first launch computes something else than `steps` times v * v - 0.7.
    """
    import cupy as cp

    kernel = cp.RawModule(code=text, options=(f"-DSTEPS={steps}",)).get_function("iterate")
    x, y = cp.random.default_rng(1).random(size, dtype=cp.float32), cp.full(size, np.nan, cp.float32)
    launch = partial(kernel, (-(-size // _THREADS),), (_THREADS,), (x, y, np.int64(size)))
    launch()
    ends = np.concatenate([x[:99].get(), x[-99:].get()])
    for _ in range(steps):
        ends = ends * ends - np.float32(0.7)
    assert np.allclose(np.concatenate([y[:99].get(), y[-99:].get()]), ends, atol=1e-4), f"wrong after {steps} steps"
    return launch


def iterations(text: str, steps: Sequence[int], size: int = 2**26) -> Table:
    """Time the kernel `iterate` of a text with each number of steps (device clock), and the copy of as many bytes."""
    calls = {f"steps: {number}": iterated(text, number, size) for number in steps}
    timed = measuring.time_calls(calls, moved=8 * size, name="iterations")
    timed.note = f"{size:,} elements."
    return timed


def variants() -> None:
    """Print the time that each compiler takes to build a variant of colmeans (host clock, median of three variants)."""
    for compiler in building.COMPILERS:
        takes = []
        for size in (128, 1024, 12288):
            built = building.build(kernels.path("colmeans"), compiler, options=(f"-DROOM={size}",))
            takes.append(built.seconds)
        print(f"{compiler:5}: {tables.seconds(summary(takes)['median'])} a variant")


def loads_in_a_row(macros: str) -> int:
    """Return the most loads of colmeans without an addition between them, in NVRTC's machine code for sm_90."""
    options = [f"-D{macro}" for macro in macros.split()]
    names = [line.base for line in sass.listing(kernels.path("colmeans"), options=options)]
    parts = "".join({"LDG": "L", "FADD": "+"}.get(name, "") for name in names)
    return max(map(len, parts.split("+")))
