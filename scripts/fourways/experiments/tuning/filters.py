"""A filter in its variants: taps, race against libraries, machine code, and what builds cost."""

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fourways import building, fresh_process, kernels, measuring, sass, toolchain
from fourways.tables import Column, Row, Table, seconds, summary

_LAST_BUILD = """
import json, sys
from fourways import building, fresh_process, kernels
task = json.load(sys.stdin)
building.build(kernels.path("fir"))  # loads NVRTC
print(json.dumps({"seconds": building.build(task["file"], options=task["options"]).seconds}))
"""


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
    table = measuring.time_calls(timed, moved=2 * y.nbytes, name=name)
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
    columns: list[Column] = ["lengths", "architectures", "bytes", "seconds"]
    return Table("lists", rows, columns, "nvcc, host clock, one sample each.")


def precompiled(headers: str, places: Mapping[str, str], body: str) -> Table:
    """Time NVRTC's builds of one kernel for six numbers of threads, with precompiled headers (host clock).

    `places[name]` is the line behind the `headers` that tells the number, with `{}` for it; an empty line stands for
    the option -DTHREADS. The first row has no precompiled headers, and its number in an option. The rows take turns.
    The note counts the headers made, and compares one more build here with one in a fresh process. Needs no GPU.
    """
    lines = {"without": "", **places}
    took: dict[str, list[float]] = {name: [] for name in lines}
    with TemporaryDirectory(prefix="fourways-") as place:
        file = Path(place, "kernel.cuh")
        folders = {name: Path(place, str(number)) for number, name in enumerate(lines)}
        for folder in folders.values():
            folder.mkdir()

        def options(name: str, threads: int) -> tuple[str, ...]:
            """Write the kernel for a number of threads, and return the options of a row."""
            file.write_text(headers + lines[name].format(threads) + body)
            told = () if lines[name] else (f"-DTHREADS={threads}",)
            return told if name == "without" else (*told, "--pch", f"--pch-dir={folders[name]}")

        building.build(file, options=options("without", 16))  # a process's first build takes longer
        for threads in (32, 64, 128, 256, 512, 1024):
            for name in lines:
                took[name].append(building.build(file, options=options(name, threads)).seconds)
        made = {name: [path.stat().st_size for path in folder.glob("*.pch")] for name, folder in folders.items()}
        last = options(list(lines)[-1], 96)
        here = building.build(file, options=last).seconds
        task = {"file": str(file), "options": last}
        variables = toolchain.child_environment()
        there = fresh_process.answer(_LAST_BUILD, task=task, environment=variables)["seconds"]
    rows = [
        {
            "number of threads": name,
            "clock": "host",
            "first": first,
            "later": summary(later),
            "headers made": len(made[name]),
        }
        for name, (first, *later) in took.items()
    ]
    columns: list[Column] = [
        "number of threads",
        ("first build", lambda row: seconds(row["first"])),
        ("later builds", lambda row: seconds(row["later"]["median"])),
        ("p10 to p90", lambda row: f"{seconds(row['later']['p10'])} to {seconds(row['later']['p90'])}"),
        "headers made",
    ]
    largest = max(size for sizes in made.values() for size in sizes)
    note = f"One more build takes {seconds(here)}, in a new process {seconds(there)}. Up to {largest:,} bytes a header."
    return Table("precompiled", rows, columns, note)
