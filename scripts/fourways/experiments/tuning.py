"""What lesson 09 does with a filter: variants are built, checked, timed and searched; costs are held against gains.

The judges of the lesson's exercises use the host way.
"""

import functools
import math
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fourways import building, checking, host, kernels, sass, timing, toolchain
from fourways.tables import Column, Row, Table, seconds, summary
from fourways.timing import Judged, device_seconds, host_seconds
from fourways.ways import Ways, is_host

_SPARSE = """
extern "C" __global__ void sparse(const float *x, float *y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = SUM;
}
"""

_NINE_DIGITS = float.fromhex("0x1.9999ap-4")
"""A number that float32 holds exactly, and that comes back as another float32 if it is written with 8 digits."""


def smoothing(length: int) -> np.ndarray:
    """Return `length` taps (float32) that smooth a signal: a bell of positive numbers whose sum is 1."""
    bell = np.hanning(length + 2)[1:-1]
    return np.asarray(bell / bell.sum(), np.float32)


def constants(taps: np.ndarray) -> str:
    """Return taps (float32) as constants of C++ with commas between them, in hexadecimal, to the last bit."""
    return ",".join(f"{tap.hex()}f" for tap in taps.tolist())


def library(x: Any, taps: Any) -> dict[str, Callable[[], Any]]:
    """Return CuPy's ways to filter `x` by `taps`, both on the GPU. Their calls raise ImportError without its libraries.

    `cupyx.scipy.signal` loads cuBLAS when it is imported, and cuFFT for its method "fft".
    """

    def correlate(method: str) -> Any:
        from cupyx.scipy import signal

        return signal.correlate(x, taps, "valid", method)

    return {f"correlate, {method}": functools.partial(correlate, method) for method in ("direct", "fft")}


def unseen() -> tuple[str, str]:
    """Return options with which neither CuPy nor NVRTC finds a kernel in its cache: a macro that no kernel uses."""
    return f"-DUNUSED={time.time_ns()}", "--no-cache"


def race(calls: Mapping[str, Callable[[], Any]], y: Any, expected: Any, name: str) -> Table:
    """Time calls that filter as many floats as `y` has (device clock), and a copy of as many bytes.

    A call writes `y`, an array on the GPU, or returns another one. Each answer is compared with `expected` (NumPy): the
    column `off by` has the largest relative error. A call that raises has no row, and its error is in the note.
    Raises AssertionError if an answer is off by 0.001 or more.
    """
    import cupy as cp

    right = cp.asarray(expected)
    errors, notes, timed = [], [], {}
    for way, call in calls.items():
        y.fill(np.nan)
        try:
            returned = call()
        except Exception as error:  # a library that is not there, or refuses
            notes.append(f"{way}: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}.")
            continue
        off = float(abs((y if returned is None else returned) / right - 1).max())
        assert off < 1e-3, f"{way}: off by {off:.1g}"
        errors.append(f"{off:.0e}")
        timed[way] = call
        del returned
    table = timing.time_calls(timed, moved=2 * y.nbytes, name=name)
    rows = [row | {"off by": off} for row, off in zip(table.rows, [*errors, ""], strict=True)]
    return Table(name, rows, [*table.columns, "off by"], " ".join([f"{y.size:,} outputs.", *notes]))


def listing(source: str, variants: Mapping[str, Sequence[str]]) -> Table:
    """Compile a kernel's text by NVRTC for sm_90 with the options of each variant, and look at the machine code.

    A *wide* load brings two or four floats. Needs no GPU.
    """
    rows: list[Row] = []
    for name, options in variants.items():
        built = building.build(source, options=options)
        code = sass.parse(sass.disassemble(built.code))
        loads = [line.opcode for line in code if line.base == "LDG"]
        wide = sum(opcode.startswith(("LDG.E.64", "LDG.E.128")) for opcode in loads)
        first = next(str(line) for line in code if line.base == "FFMA")
        row: Row = {"variant": name, "wide loads": wide, "other loads": len(loads) - wide}
        rows.append(row | {"registers": built.registers, "first multiply-add": first})
    return Table("machine_code", rows)


def lists(lengths: Sequence[Sequence[int]], archs: Sequence[str]) -> Table:
    """Compile the binding's launcher by nvcc for each list of lengths, for one architecture and for all of `archs`.

    Returns a table of bytes and seconds (host clock, one sample each); needs no GPU.
    """
    launcher, include = kernels.root() / "cpp/aot/fir.cu", f"-I{kernels.root() / 'cpp/kernels'}"
    rows: list[Row] = []
    for listed, numbers in [(each, archs[:1]) for each in lengths] + [(lengths[-1], archs)]:
        macro = "-DFIR_LENGTHS=" + r"\,".join(map(str, listed))  # nvcc would cut at a comma
        made = building.build(launcher, "nvcc", numbers, "fatbin", (macro, include))
        row: Row = {"lengths": " ".join(map(str, listed)) or "none", "architectures": len(numbers)}
        rows.append(row | {"bytes": len(made.code), "clock": "host", "seconds": made.seconds})
    columns: list[Column] = ["lengths", "architectures", ("bytes", lambda row: f"{row['bytes']:,}"), "seconds"]
    return Table("lists", rows, columns, "nvcc, host clock, one sample each.")


def precompiled(headers: str, places: Mapping[str, str], body: str) -> Table:
    """Time NVRTC's builds of one kernel for six numbers of threads, with precompiled headers (host clock).

    `places[name]` is the line behind the `headers` that tells the number, with `{}` for it; an empty line stands for
    the option -DTHREADS. The first row has no precompiled headers, and its number in an option. The rows take turns.
    The note counts the headers made, and compares one more build here with one in a fresh process. Needs no GPU.
    """
    tries = {"without": ("", False)} | {name: (line, True) for name, line in places.items()}
    took: dict[str, list[float]] = {name: [] for name in tries}
    with TemporaryDirectory(prefix="fourways-") as place:
        folder, file = Path(place), Path(place, "kernel.cuh")

        def options(number: int, threads: int) -> tuple[str, ...]:
            """Write the kernel for a number of threads, and return the options of try `number`."""
            line, kept = list(tries.values())[number]
            file.write_text(headers + line.format(threads) + body)
            told = () if line else (f"-DTHREADS={threads}",)
            return (*told, "--pch", f"--pch-dir={folder / str(number)}") if kept else told

        for number in range(len(tries)):
            (folder / str(number)).mkdir()
        building.build(file, options=options(0, 16))  # a process's first build takes longer
        for threads in (32, 64, 128, 256, 512, 1024):
            for number, name in enumerate(tries):
                took[name].append(building.build(file, options=options(number, threads)).seconds)
        made = [[path.stat().st_size for path in (folder / str(number)).glob("*.pch")] for number in range(len(tries))]
        last = options(len(tries) - 1, 96)
        here = building.build(file, options=last).seconds
        program = (
            "import sys\nfrom fourways import building, kernels\nbuilding.build(kernels.path('fir'))  # loads NVRTC\n"
            "print(building.build(sys.argv[1], options=sys.argv[2:]).seconds)"
        )
        command = [sys.executable, "-c", program, str(file), *last]
        there = float(subprocess.check_output(command, env=toolchain.child_environment()))
    rows = [
        {
            "number of threads": name,
            "clock": "host",
            "first": first,
            "later": summary(later),
            "headers made": len(files),
        }
        for (name, (first, *later)), files in zip(took.items(), made, strict=True)
    ]
    columns: list[Column] = [
        "number of threads",
        ("first build", lambda row: seconds(row["first"])),
        ("later builds", lambda row: seconds(row["later"]["median"])),
        ("p10 to p90", lambda row: f"{seconds(row['later']['p10'])} to {seconds(row['later']['p90'])}"),
        "headers made",
    ]
    largest = max(size for files in made for size in files)
    note = f"One more build takes {seconds(here)}, in a new process {seconds(there)}. Up to {largest:,} bytes a header."
    return Table("precompiled", rows, columns, note)


def tune(
    ways: Ways,
    variants: Iterable[Mapping[str, Any]],
    build: Callable[..., Callable[..., Any]],
    size: int,
    way: str = "gpu",
) -> list[Row]:
    """Build each of `variants`, check it at every size of `checking.check`, and time it at `size` elements.

    `build(**variant)` returns a function like a way's, `function(*inputs, *outputs)`. With `way` "host" the arrays are
    NumPy's, timed by the host's clock; else they are on the GPU, timed by the device's clock.
    Each row holds the `variant`, `build_seconds` (host clock), `search_seconds` (host clock, for building, checking and
    timing together), `seconds` (a summary of a call's times), and `problem`. A variant that cannot be built or
    launched, or that is wrong, has a line of `problem`, and None for `seconds`. Outputs are restored before each sample
    and judged after the last one.
    Raises CheckFailure if the GPU can do nothing more.
    """
    sizes = ways.sizes or checking.SIZES
    questions = {count: ways.question(count) for count in sizes}
    judged = Judged(way, *ways.question(size))
    clock = host_seconds if is_host(way) else device_seconds
    rows = []
    for variant in variants:
        row: Row = {"variant": dict(variant), "clock": "host" if is_host(way) else "device", "seconds": None}
        start = time.perf_counter()
        try:
            function = build(**variant)
            row["build_seconds"] = time.perf_counter() - start
            row["problem"] = _problem(function, way, questions)
            if not row["problem"]:
                row["problem"] = judged.elsewhere(functools.partial(function, *judged.values))
            if not row["problem"]:
                samples = clock(functools.partial(function, *judged.values), before=judged.restore)
                if problem := judged.problem():
                    row["problem"] = f"size {size}: after the last timed call {problem}"
                else:
                    row["seconds"] = summary(samples)
        except checking.CheckFailure:
            raise
        except Exception as error:
            row.setdefault("build_seconds", time.perf_counter() - start)
            row["problem"] = f"{type(error).__name__}: {_first_error(str(error))}"
        rows.append(row | {"search_seconds": time.perf_counter() - start})
    return rows


def _problem(function: Callable[..., Any], way: str, questions: Mapping[int, Any]) -> str | None:
    """Return a line on the first wrong answer of the function, or None. `questions` are those of `Ways`, by size."""
    for size, question in questions.items():
        if problem := checking.verdict(function, way, *question):
            return f"size {size}: {problem.splitlines()[0]}"
    return None


def _first_error(words: str) -> str:
    """Return the first line of a compiler's message with "error" in it, else the first line, without folders."""
    lines = words.strip().splitlines() or [""]
    line = next((line.strip() for line in lines if "error" in line.lower()), lines[0])
    line = re.sub(r"\S*/(?=[^/\s]+[:(]\d)", "", line)
    return re.sub(r"\b[0-9a-f]{32,}[.\w]*\((\d+)\)", r"line \1", line)  # CuPy names a file by the hash of its text


def best(rows: Sequence[Row]) -> Row:
    """Return the row of the fastest right variant. Raises ValueError if no variant is right."""
    right = [row for row in rows if row["seconds"]]
    if not right:
        raise ValueError("no variant is right: " + "; ".join(row["problem"] for row in rows))
    return min(right, key=lambda row: row["seconds"]["median"])


def tune_table(rows: Sequence[Row], name: str = "tuning") -> Table:
    """Show the rows of `tune` in their order, with each one's speed relative to the first, which must be right."""

    def against_first(row: Row) -> str:
        return f"{rows[0]['seconds']['median'] / row['seconds']['median']:.2f}" if row["seconds"] else ""

    columns: list[Column] = [
        *((key, lambda row, key=key: str(row["variant"][key])) for key in rows[0]["variant"]),
        ("build (host)", "build_seconds"),
        (f"median ({rows[0]['clock']})", "seconds"),
        ("times the first's speed", against_first),
        ("outcome", lambda row: row["problem"] or "right"),
    ]
    built, all_of_it = (sum(row[key] for row in rows) for key in ("build_seconds", "search_seconds"))
    note = f"The search took {seconds(all_of_it)} (host clock), {seconds(built)} of it to build."
    return Table(name, rows, columns, note)


def pays_after(cost: float, slow: float, fast: float) -> float:
    """Return the number of calls of `fast` instead of `slow` seconds that save `cost` seconds; infinity if none do."""
    return cost / (slow - fast) if fast < slow else math.inf


def payback(rows: Sequence[Row]) -> Table:
    """Return after how many calls the fastest variant has paid for its own build, and for the whole search.

    `rows` are those of `tune`. The variant is held against the first one, which is compiled ahead of time.
    """
    winner = best(rows)
    slow, fast = (row["seconds"]["median"] for row in (rows[0], winner))
    costs = {
        "the fastest one's build": winner["build_seconds"],
        "the whole search": sum(r["search_seconds"] for r in rows),
    }
    paid: list[Row] = [
        {"what": name, "clock": "host", "seconds": cost, "calls": pays_after(cost, slow, fast)}
        for name, cost in costs.items()
    ]
    chosen = ", ".join(f"{key}: {value}" for key, value in winner["variant"].items())
    columns: list[Column] = [
        "what",
        ("cost (host)", lambda row: seconds(row["seconds"])),
        ("paid after calls", "calls"),
    ]
    return Table("payback", paid, columns, f"The fastest is {chosen}. Each call saves {seconds(slow - fast)}.")


def check_expression(expression: Callable[[np.ndarray], str]) -> str:
    """Judge a learner's `expression(taps)`: the sum over the taps that are not 0, as C++ on `x[i + k]`.

    It is tried on four random filters (float32) of 5 to 9 taps. Some taps are 0, some are negative, and some need nine
    digits; one filter is 0 throughout. Every tap must arrive to the last bit, and NVRTC must leave no more products in
    the kernel than there are taps that are not 0.
    """
    random = np.random.default_rng()
    zeros: tuple[list[int], ...] = ([1, 5], [0, 3], [0, 1, 2, 3, 4], [2, 4, 6, 8])
    for length, places in zip((7, 6, 5, 9), zeros, strict=True):
        taps = random.uniform(0.1, 1, length).astype(np.float32)
        taps[1::2] *= -1
        taps[-2] = _NINE_DIGITS
        taps[places] = 0
        if problem := _wrong_expression(expression(taps), taps):
            return f"Not yet: {problem}."
    return "Right for four filters: every tap exact, and no product too many."


def _wrong_expression(text: Any, taps: np.ndarray) -> str | None:
    """Return the first thing that is wrong with a sum as C++ for these taps, or None."""
    if not isinstance(text, str):
        return f"{text!r} came; wanted is the sum as a str"
    told = (f"-DSUM={' '.join(text.split())}",)  # a macro has one line
    impulse, answer = np.zeros(2 * taps.size - 1, np.float32), np.full(taps.size, np.nan, np.float32)
    impulse[taps.size - 1] = 1
    try:
        kernel = host.compile(_SPARSE, told, timeout=5).get_function("sparse")
        kernel((1,), (32,), (impulse, answer, np.int64(taps.size)))
        ptx = building.build(_SPARSE, output="ptx", options=told).code.decode()
    except (host.CompileError, host.KernelError, building.BuildError) as error:
        return checking.not_yet(error).removeprefix("Not yet: ")
    got = answer[::-1]
    if taps.any() and not got.any():
        return "the sum is 0 for every x"
    if (wrong := np.flatnonzero(got != taps)).size:
        if np.allclose(got, taps, rtol=0, atol=1e-2):
            return f"tap {wrong[0]} is off by {abs(got - taps).max():.1g}: some of its bits are lost"
        if sorted(got[got != 0]) == sorted(taps[taps != 0]):
            return f"tap {wrong[0]} has the value of another tap; the places in x are wrong"
        return f"the filter's tap {wrong[0]} is {taps[wrong[0]]!s}, and the kernel's is {got[wrong[0]]!s}"
    products, needed = len(re.findall(r"\b(?:mul|fma)(?:\.rn)?\.f(?:32|64)\b", ptx)), np.count_nonzero(taps)
    if products > needed:
        return f"the sum is right, but has {products} products for {needed} taps that are not 0"
    return None


def check_kept(smooth: Callable[..., None]) -> str:
    """Judge a learner's `smooth(build, x, taps, y)`, which filters x into y and builds one kernel for each filter.

    `build(taps)` compiles a kernel for these taps by the host way, and returns a function of x and y that launches it.
    `smooth` is called for three random filters of one length, which take turns, some in arrays of their own and one in
    an array that is overwritten. The filters have the same taps in other orders, so their sums are equal. `smooth` must
    call `build` once for each filter, and launch one kernel in each call.
    """
    random, built, launched = np.random.default_rng(), [], [0]

    def build(taps: np.ndarray) -> Callable[[np.ndarray, np.ndarray], None]:
        told = (f"-DTAPS={constants(taps)}",)
        kernel = host.compile(kernels.path("fir"), told, timeout=5).get_function("fir")
        built.append(taps.copy())
        sizes = np.int32(taps.size), taps.copy()

        def launch(x: np.ndarray, y: np.ndarray) -> None:
            launched[0] += 1
            kernel((1,), (32,), (x, sizes[1], sizes[0], y, np.int64(y.size)))

        return launch

    four = np.asarray(random.permutation(np.arange(8, 16))[:4] / 16, np.float32)
    filters = [four[order] for order in ([0, 1, 2, 3], [0, 2, 1, 3], [3, 1, 2, 0])]
    reused = np.empty(4, np.float32)  # one array for the filters 0 and 1
    for call, number in enumerate((0, 2, 1, 0, 2, 1, 0), 1):
        taps = filters[2].copy()
        if number < 2:
            reused[:] = filters[number]
            taps = reused
        x, y = random.random(40 + call, np.float32), np.full(37 + call, np.nan, np.float32)
        before = launched[0]
        try:
            smooth(build, x, taps, y)
        except Exception as error:
            return f"Not yet: call {call} raised {type(error).__name__}: {error}"
        if not np.allclose(y, np.correlate(x, filters[number], "valid"), rtol=1e-4, atol=0):
            why = "a kernel for other taps answered" if launched[0] > before else "and no kernel was launched"
            return f"Not yet: call {call} is wrong, {why}."
        if launched[0] != before + 1:
            return f"Not yet: call {call} is right, but it launched {launched[0] - before} kernels; wanted is 1."
    if len(built) != len(filters):
        return f"Not yet: the answers are right, but {len(filters)} filters took {len(built)} builds."
    return f"Right: {call} calls with {len(filters)} filters took {len(built)} builds."
