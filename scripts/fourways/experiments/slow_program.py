"""What lesson 07 measures: a slow program recorded, profiled, and timed after each repair.

The program's functions stand in the lesson. `record` and `profile` write them into a file of their own, because a
profiler starts the program that it looks at. The judges of the lesson's exercises need no GPU.
"""

import inspect
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fourways import building, checking, kernels, profiling, sass, tables, timeline, timing, toolchain
from fourways.tables import Row, Table, summary

ROWS, COLUMNS = 2048, 512
"""The rows and columns of each matrix."""
AS_FOUND, COALESCED, REPAIRED = "COLUMNS=1 ROOM=12288", "ROOM=12288", ""
"""Macros of colmeans.cuh: the kernel as it was found, after its first repair, and after its second."""
FORMS = (AS_FOUND, COALESCED, REPAIRED)
"""The launches of colmeans in the profile, in this order from 1."""

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
_ONE_KERNEL = r'''"""One launch of iterate."""
import sys

from cupyx.profiler import profile

from fourways.experiments import slow_program

steps, size = map(int, sys.argv[1:])
launch = slow_program.iterated({text!r}, steps, size)
launch()  # warm-up
with profile():
    launch()
'''
_PLAIN = """
import cupy
from fourways import kernels
cupy.RawModule(code=kernels.source("colmeans"), options=("-lineinfo",)).compile()
"""


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

    count = count or max(1, timing.gpu_size(4, most=2**29) // (ROWS * COLUMNS))
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
        rows = timeline.of_program(_written(analysis), str(count), macros)
    except timeline.TimelineError as error:
        print(error)
        return []
    (folder() / f"{analysis.__name__}.json").write_text(timeline.trace_json(rows), encoding="utf-8")
    return timeline.part(rows, "analysis")


def _written(analysis: Analysis) -> Path:
    program = folder() / "analyse.py"
    text = _PROGRAM.format(name=analysis.__name__, analysis=inspect.getsource(analysis))
    program.write_text(text, encoding="utf-8")
    return program


def drawing(rows: Sequence[Row], title: str) -> Any:
    """Draw the rows of `record`: the whole analysis, and below it the first matrix; None without rows."""
    return timeline.figure(rows, title, "one matrix") if rows else None


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
    return timing.time_calls(calls, clock="host", name="_".join(re.findall(r"\w+", list(calls)[-1])))


def forms(named: Mapping[str, str], x: Any, means: Any) -> Table:
    """Time colmeans with each form's macros (device clock), and the device copy of as many bytes.

    Raises AssertionError if a form's means are wrong.
    """
    right, calls = x.mean(axis=1), {name: partial(build(macros), x, means) for name, macros in named.items()}
    timing.require_right(calls, means, lambda: abs(means - right).max() < 1e-4)
    timed = timing.time_calls(calls, moved=x.nbytes, name="forms")
    timed.note = f"{len(x)} matrices. {timed.note}".strip()
    return timed


def profile(analysis: Analysis, count: int) -> None:
    """Profile the three FORMS of colmeans in one run of Nsight Compute, and keep the report; print what was run."""
    _profiled("colmeans", _written(analysis), [str(count), *FORMS])


def profile_iterate(text: str, steps: int, size: int) -> None:
    """Profile one launch of the kernel `iterate` of a text by Nsight Compute, and keep the report; see `iterated`."""
    program = folder() / "iterate.py"
    program.write_text(_ONE_KERNEL.format(text=text), encoding="utf-8")
    _profiled("iterate", program, [str(steps), str(size)])


def _profiled(kernel: str, program: Path, arguments: Sequence[str]) -> None:
    report = folder() / f"{kernel}.ncu-rep"
    report.unlink(missing_ok=True)
    options = [
        *("--export", str(report), "--force-overwrite"),
        *("--kernel-name", f"regex:^{kernel}$"),  # no other kernel
        *("--profile-from-start", "off"),  # only what stands under `profile()`
        *("--target-processes", "application-only"),  # not the programs that it starts
        *("--clock-control", "none"),  # leave the GPU's clock as it is
        *("--import-source", "1"),  # put the source into the report
    ]
    try:
        words = [str(profiling.require_ncu()), *options, *profiling.options(), sys.executable, str(program), *arguments]
        done = subprocess.run(words, capture_output=True, text=True, env=toolchain.child_environment())
        if not report.is_file():
            raise profiling.refused(done.stdout + done.stderr)
    except profiling.ProfilingError as error:
        print(error)
        return
    shown = shlex.join(["ncu", "…", "python", program.name, *arguments])
    print(f"{shown.replace(chr(39) + '…' + chr(39), '…')}\n{report.name}: {report.stat().st_size / 1e6:.1f} MB")


def report(kernel: str = "colmeans") -> profiling.Report:
    """Return the report of `profile` or `profile_iterate`: this machine's, else that of the recorded run.

    Prints why, and returns an empty report, if there is none or if it cannot be read.
    """
    name = f"{kernel}.ncu-rep"
    places = (folder() / name, kernels.root() / "book" / "figures" / name)
    try:
        return profiling.read(next(filter(Path.is_file, places), places[0]))
    except profiling.ReportError as error:
        print(error)
        return profiling.Report([], [])


def metrics(told: profiling.Report, launch: int, names: Sequence[str]) -> Table | None:
    """Show the metrics of one launch in a report whose names are asked for; None if the report lacks the launch."""
    rows = [row for row in told.metrics if row["launch"] == launch and row["metric"] in names]
    return profiling.table(rows) if rows else None


def lines(told: profiling.Report, launch: int, count: int = 3) -> Table | None:
    """Show the source lines of one launch with most samples; None if the report lacks the launch."""
    rows = [row for row in told.lines if row["launch"] == launch]
    return profiling.lines_table(rows, count) if rows else None


def roofline(*told: profiling.Report) -> Any:
    """Draw the launches of the reports of colmeans and iterate below the roofs of their GPU; None without launches."""
    forms = ("as found", "coalesced", "repaired")
    rows = [row for report in told for row in report.metrics if row["metric"] == "roofline"]
    named = [
        row | {"launch": number, "kernel": forms[row["launch"] - 1] if row["kernel"] == "colmeans" else row["kernel"]}
        for number, row in enumerate(rows, 1)
    ]
    return profiling.figure(named, "Launches below their roofs") if named else None


def dram(told: profiling.Report) -> None:
    """Print the bytes that the first two launches of a report moved from and to DRAM."""
    for launch, name in enumerate(("as found", "coalesced"), 1):
        if rows := {row["metric"]: row for row in told.metrics if row["launch"] == launch}:
            moved = rows["dram"]["bytes_per_second"] * rows["duration"]["seconds"]
            print(f"{name:12}: {moved / 1e9:.2f} GB from and to DRAM")


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
    timed = timing.time_calls(calls, moved=8 * size, name="iterations")
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
    way = " ".join(["nvrtc", *(f"-D{macro}" for macro in macros.split())])
    names = [line.base for line in sass.listing(kernels.path("colmeans"), way)]
    parts = "".join("L" if name == "LDG" else "+" * (name == "FADD") for name in names)
    return max(map(len, parts.split("+")))


def named_source() -> None:
    """Print the file that the line information names if CuPy compiles a kernel without `#line`, and where it is kept.

    CuPy compiles in a fresh process with a new cache, and `CUPY_CACHE_SAVE_CUDA_SOURCE=1`.
    """
    cache, code = folder() / "cache", folder() / "colmeans.cubin"
    shutil.rmtree(cache, ignore_errors=True)
    saving = {"CUPY_CACHE_DIR": str(cache), "CUPY_CACHE_SAVE_CUDA_SOURCE": "1"}
    environment = toolchain.child_environment() | saving
    subprocess.run([sys.executable, "-c", _PLAIN], env=environment, check=True)
    (cached,) = cache.glob("*.cubin")
    content = cached.read_bytes()
    # CuPy puts a checksum before the machine code, and leaves out its last byte, a zero
    code.write_bytes(content[content.index(b"\x7fELF") :] + b"\0")
    command = [str(toolchain.program("nvdisasm")), "-g", "-c", str(code)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (name,) = set(re.findall(r'## File "([^"]+)"', listing))
    short = re.sub(r"[0-9a-f]{20,}", "HASH", name)
    print(f"named: {short}, which is {'there' if Path(name).exists() else 'gone'}")
    print(f"in the cache, of the same name: {'yes' if (cache / Path(name).name).exists() else 'no'}")


def check_sectors(function: Callable[[list[int]], Any]) -> str:
    """Judge `function(addresses)`: the number of 32-byte sectors that hold the floats at these addresses, in bytes.

    It is tried on a warp's row, a row that begins inside a sector, a column, one float for all, and random floats.
    """
    numbers = np.random.default_rng()
    start = 32 * int(numbers.integers(100, 1000))
    far = [int(4 * place) for place in numbers.integers(0, 10**6, 32)]
    near = [int(4 * place) for place in numbers.permutation(200)[:32]]
    cases = {
        "a row that begins with a sector": [start + 4 * lane for lane in range(32)],
        "a column of a matrix with 512 columns": [start + 4 * 512 * lane for lane in range(32)],
        "a row that begins inside a sector": [start + 12 + 4 * lane for lane in range(32)],
        "every third float of a row": [start + 12 * lane for lane in range(32)],
        "the same float for all lanes": [start + 8] * 32,
        "a row from right to left": [start + 4 * lane for lane in reversed(range(32))],
        "random floats, far apart": far,
        "random floats, close together": near,
    }
    for case, addresses in cases.items():
        answer = function(list(addresses))
        if not checking.is_whole(answer):
            return f"Not yet: {case}: {answer!r} is not a whole number of sectors."
        if answer != len({address // 32 for address in addresses}):
            return f"Not yet: {case}: {answer} sectors? Number the sectors of the memory, and see which are touched."
    return f"Right for {len(cases)} warps."


def check_blocks(function: Callable[[int, int, int], Any]) -> str:
    """Judge `function(threads, registers, shared_bytes)`: the blocks that a multiprocessor of sm_90 runs at once.

    `registers` are those of a thread, 16 to 128, and `shared_bytes` is what a block declares. The limits are 2,048
    threads, 32 blocks, 65,536 registers in one pool, and 228 KB of shared memory with 1 KB more for each block. The
    function is tried where each of the four limits decides, and on random blocks.
    """
    numbers = np.random.default_rng()
    cases = [(128, 32, 512), (128, 32, 49_152), (32, 16, 0), (256, 128, 4096), (1024, 32, 0), (384, 32, 20_000)]
    cases += [(128, 32, 13_568), (128, 32, 13_569), (128, 32, 8192)]
    for _ in range(40):
        threads, registers = 32 * int(numbers.integers(1, 33)), 16 * int(2 ** numbers.integers(0, 4))
        cases.append((threads, registers, 128 * int(numbers.integers(0, 385))))
    for threads, registers, shared_bytes in cases:
        case = f"{threads} threads, {registers} registers each, {shared_bytes:,} bytes"
        answer = function(threads, registers, shared_bytes)
        if not checking.is_whole(answer):
            return f"Not yet: {case}: {answer!r} is not a whole number of blocks."
        limits = {
            "there are too many threads": 2048 // threads,
            "there are too many blocks": 32,
            "there are too many registers": 65_536 // (threads * registers),
            "the shared memory is too small": 228 * 1024 // (shared_bytes + 1024),
        }
        fits = min(limits.values())
        if answer > fits:
            short = next(name for name, limit in limits.items() if limit < answer)
            return f"Not yet: {case}: with {answer} blocks {short}."
        if answer < fits:
            return f"Not yet: {case}: more than {answer} blocks fit."
    return f"Right for {len(cases)} kinds of blocks."
