"""What lesson 01 measures beside the ways: a kernel with the copies to the GPU and back, against NumPy.

The comparison needs a GPU. The judge of the lesson's exercise uses the host way.
"""

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from fourways import checking, figures, host, kernels, measuring, tables
from fourways.tables import Column, Row, Table

SIZES = tuple(2**power for power in (10, 14, 18, 22, 26))
"""Elements of the arrays: from 4 KiB to 256 MiB."""
_DECLARED = "__device__ void mark(int *element);\n"
_MARK = """
__device__ void mark(int *element)
{
    atomicAdd(element, %d + (int)(blockIdx.x * blockDim.x + threadIdx.x));
}
"""
_GRIDS = (((1,), (1,)), ((1,), (32,)), ((3,), (4,)), ((7,), (33,)), ((2,), (256,)))


def against_numpy(doublify: Callable[[Any, Any], None]) -> Table:
    """Time `2 * x` for float32 arrays of `SIZES` (host clock): by NumPy, on the GPU, and on the GPU with both copies.

    `doublify(x, y)` launches the kernel on CuPy's arrays. A row has the elements and three times; each includes the
    wait for the result. All write into arrays that are there before. Raises AssertionError if an answer is wrong.
    """
    columns: list[Column] = [
        "elements",
        ("NumPy", "numpy_seconds"),
        ("kernel", "gpu_seconds"),
        ("kernel and both copies", "gpu_copies_seconds"),
        ("NumPy's time / the GPU's with copies", "faster"),
    ]
    note = "Host clock, medians. Each time includes the wait for the result."
    return Table("against_numpy", [_timed(doublify, size) for size in SIZES], columns, note)


def _timed(doublify: Callable[[Any, Any], None], size: int) -> Row:
    import cupy as cp

    x = np.random.default_rng(1).standard_normal(size, dtype=np.float32)
    y, y_back = np.zeros_like(x), np.zeros_like(x)
    x_gpu, y_gpu = cp.asarray(x), cp.zeros(size, np.float32)
    finish = cp.cuda.get_current_stream().synchronize

    def on_the_gpu() -> None:
        doublify(x_gpu, y_gpu)
        finish()

    def with_copies() -> None:
        x_gpu.set(x)
        doublify(x_gpu, y_gpu)
        y_gpu.get(out=y_back)

    calls = {"numpy": lambda: np.multiply(x, 2, out=y), "gpu": on_the_gpu, "gpu_copies": with_copies}
    timed = {row["way"]: row["seconds"] for row in measuring.time_calls(calls, clock="host").rows}
    assert np.array_equal(y, y_back) and np.array_equal(y, y_gpu.get()), f"size {size}: a wrong answer"
    row = {"elements": size, "clock": "host"} | {f"{call}_seconds": seconds for call, seconds in timed.items()}
    return row | {"faster": timed["numpy"]["median"] / timed["gpu_copies"]["median"]}


def figure(compared: Table) -> Any:
    """Draw the rows of `against_numpy`: seconds against elements, a line each."""
    numpy, copies = (compared.rows[-1][key]["median"] for key in ("numpy_seconds", "gpu_copies_seconds"))
    title = f"{compared.rows[-1]['elements']:,} floats: NumPy {tables.seconds(numpy)}, the GPU with both copies "
    title += tables.seconds(copies)
    names = {"NumPy": "numpy_seconds", "kernel": "gpu_seconds", "kernel and both copies": "gpu_copies_seconds"}
    series = {name: [(row["elements"], row[key]["median"]) for row in compared.rows] for name, key in names.items()}
    return figures.lines(series, "elements", "seconds (host clock)", tables.seconds, title)


def check_owner(text: str) -> str:
    """Judge the text of a kernel `owner(int *y, long long n)`: each thread calls `mark(y + i)` for its elements.

    Element `i` belongs to thread `i` modulo the number of threads, which marks it once. `mark` is the judge's: it notes
    who calls it. The kernel is tried by the host way with several grids, blocks and sizes.
    """
    if not isinstance(text, str) or "owner" not in kernels.parameters(text):
        return "Not yet: the text has no kernel `owner`."
    if re.search(r"\b(threadIdx|blockIdx|blockDim)\s*\.\s*\w\s*[-+*/%]?=[^=]", text):
        return "Not yet: the text changes a thread's own number."
    secret = random.randrange(2**20, 2**24)
    try:
        kernel = host.compile(_DECLARED + text + _MARK % secret, timeout=5).get_function("owner")
        for grid, block in _GRIDS:
            for size in (0, 1, 5, grid[0] * block[0], 3 * grid[0] * block[0] + 1):
                if wrong := _wrong_owner(kernel, grid, block, size, secret):
                    return f"Not yet: grid {grid[0]}, block {block[0]}, n = {size}: {wrong}."
    except (host.CompileError, host.KernelError, ValueError) as error:
        return checking.not_yet(error)
    return f"Right for {len(_GRIDS)} launches, each with 5 sizes."


def _wrong_owner(kernel: Any, grid: tuple[int], block: tuple[int], size: int, secret: int) -> str | None:
    """Return the first element that another thread marked, nobody, or a thread for the second time."""
    threads, y = grid[0] * block[0], np.zeros(size, np.int32)
    kernel(grid, block, (y, np.int64(size)))
    marks = y - secret
    if not (wrong := np.flatnonzero(marks != np.arange(size) % threads)).size:
        return None
    element = wrong[0]
    if 0 <= marks[element] < threads:
        return f"element {element}: thread {marks[element]} marked it"
    return f"element {element}: {'it was marked more than once' if marks[element] > threads else 'no thread marked it'}"
