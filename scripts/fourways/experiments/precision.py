"""What the page on precision measures: a series, stored and computed in float64, float32 and half, and its errors.

The kernel's text has the macros STORED and SUM, which are types of C++, STEPS, and HALF where a type is `__half`. Its
kernel is `series(x, y, packs)`, and a thread takes a pack of 16 bytes.
"""

from collections.abc import Sequence

import numpy as np

from fourways import host, measuring, tables
from fourways.tables import Column, Row, Table, summary

_TYPES = {"double": np.float64, "float": np.float32, "__half": np.float16}
_SAMPLES = np.arange(512, 1024) / 1024  # exact in all three types
_ERROR: Column = ("error up to", lambda row: f"{row['error']:.1g}")


def options(stored: str, summed: str, steps: int) -> tuple[str, ...]:
    """Return the compiler's options for the two types, as C++ names them, and a number of steps."""
    macros = (f"-DSTORED={stored}", f"-DSUM={summed}", f"-DSTEPS={steps}")
    return (*macros, "-DHALF") if "__half" in (stored, summed) else macros


def _error(y: np.ndarray, steps: int) -> float:
    """Return the largest relative error of the first 512 elements."""
    exact = sum(_SAMPLES.astype(np.longdouble) ** power for power in range(1, steps + 1))
    return float(np.abs(y[:512].astype(np.float64) / exact - 1).max())


def host_errors(text: str, pairs: Sequence[tuple[str, str]], steps: int) -> Table:
    """Run the series on the CPU for pairs of types (stored, summed), and return their errors."""
    rows: list[Row] = []
    for stored, summed in pairs:
        kernel = host.compile(text, options(stored, summed, steps)).get_function("series")
        y = np.empty(512, _TYPES[stored])
        kernel((1,), (256,), (_SAMPLES.astype(_TYPES[stored]), y, np.int64(y.nbytes // 16)))
        rows.append({"stored": stored, "summed": summed, "steps": steps, "error": _error(y, steps)})
    return Table("host_errors", rows, ["stored", "summed", "steps", _ERROR])


def race(text: str, pairs: Sequence[tuple[str, str]], steps: Sequence[int]) -> Table:
    """Time the series on the GPU (device clock) for pairs of types and numbers of steps, and compare with its sums."""
    import cupy as cp

    size = measuring.gpu_size(bytes_per_element=16, most=2**25)
    rows: list[Row] = []
    for count in steps:
        for stored, summed in pairs:
            kernel = cp.RawModule(code=text, options=options(stored, summed, count)).get_function("series")
            x = cp.tile(cp.asarray(_SAMPLES, _TYPES[stored]), size // 512)
            y = cp.full_like(x, np.nan)
            packs = y.nbytes // 16
            grid, arguments = (-(-packs // 256),), (x, y, np.int64(packs))
            kernel(grid, (256,), arguments)
            row: Row = {"steps": count, "stored": stored, "summed": summed, "error": _error(y[:512].get(), count)}
            seconds = summary(measuring.device_seconds(lambda: kernel(grid, (256,), arguments)))  # noqa: B023
            rates = {"bytes_per_second": 2 * x.nbytes / seconds["median"]}
            rows.append(row | {"clock": "device", "seconds": seconds, "elements": size} | rates)
    columns: list[Column] = [
        *("steps", "stored", "summed", "seconds", tables.RANGE, "bytes_per_second"),
        ("steps/s", lambda row: f"{row['elements'] * row['steps'] / row['seconds']['median']:.2g}"),
        _ERROR,
    ]
    return Table("precision", rows, columns, f"{size:,} elements, device clock.")
