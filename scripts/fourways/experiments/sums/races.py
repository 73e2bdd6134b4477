"""Sums and prefix sums on the GPU: their times, and whether their results are the same in each run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fourways import fresh_process, kernels, measuring, tables, toolchain
from fourways.tables import Column, Row, Table, summary

THREADS = 512
"""Threads of a block of the kernels that `race` launches."""
_SUMS = """
import json
import cupy as cp
from fourways import tables, measuring
cube = cp.ones((256, 256, 256), cp.float32)
calls = [lambda: cp.sum(cube), lambda: cp.sum(cube, axis=2)]
assert [float(call().ravel()[-1]) for call in calls] == [256**3, 256]
names = ["one_sum_seconds", "a_sum_for_each_row_seconds"]
print(json.dumps({name: tables.summary(measuring.device_seconds(call)) for name, call in zip(names, calls)}))
"""


def odd_numbers(size: int) -> Any:
    """Return `size` odd whole numbers from -15 to 15 on the GPU (float32): few different ones, repeated."""
    import cupy as cp

    few = 2 * np.random.default_rng(1).integers(-8, 8, min(size, 2**22), dtype=np.int8) + 1
    return cp.resize(cp.asarray(few.astype(np.float32)), size)


def race(
    texts: Mapping[str, str], more: Mapping[str, Callable[[Any, Any], Any]] | None = None, size: int = 2**26
) -> Table:
    """Time sums of the same `size` floats (device clock), in turns, and the device copy of as many bytes.

    Each text holds a kernel `reduce(x, total, n)`; it is compiled by NVRTC and launched with a thread for each
    element, after `total` was set to 0. `more` holds functions of `x` and `total`, CuPy's arrays.
    `more` may also return the sum, or parts of it. The numbers are small and whole, so every order of adding that these
    kernels use gives the same sum. Raises AssertionError where another comes.
    """
    import cupy as cp

    x, total = odd_numbers(size), cp.zeros(1, np.float32)
    right = float(x.astype(np.float64).sum())

    functions = {name: in_blocks(cp.RawModule(code=text).get_function("reduce")) for name, text in texts.items()}
    calls = {name: partial(function, x, total) for name, function in {**functions, **(more or {})}.items()}
    for name, call in calls.items():
        total.fill(np.nan)
        returned = call()
        got = float((total if returned is None else returned).sum())
        assert got == right, f"{name}: {got} instead of {right}"
    timed = measuring.time_calls(calls, moved=x.nbytes, name="sums")
    timed.note = f"{size:,} elements."
    return timed


def in_blocks(kernel: Any, blocks: int = 0) -> Callable[[Any, Any], None]:
    """Return a function of `x` and `total`, CuPy's arrays, that sets `total` to 0 and launches the kernel `reduce`.

    By default there are as many blocks as give each element a thread.
    """

    def call(x: Any, total: Any) -> None:
        total.fill(0)
        kernel((blocks or -(-x.size // THREADS),), (THREADS,), (x, total, np.int64(x.size)))

    return call


def not_added(text: str) -> Callable[[Any, Any], Any]:
    """Return a function of `x` and `total`, CuPy's arrays, that launches the kernel `reduce` as `race` does.

    But each block leaves its sum in an element of its own, which no other block touches. These sums are returned.
    """
    import cupy as cp

    kernel = cp.RawModule(code=text.replace("atomicAdd(total, sum)", "total[blockIdx.x] = sum")).get_function("reduce")
    parts = cp.zeros(2**17, np.float32)

    def call(x: Any, total: Any) -> Any:
        blocks = -(-x.size // THREADS)
        total.fill(0)  # as the kernels that add
        kernel((blocks,), (THREADS,), (x, parts, np.int64(x.size)))
        return parts[:blocks]

    return call


def different_results(calls: Mapping[str, Callable[[Any, Any], None]], runs: int = 100, size: int = 2**27) -> Table:
    """Run each `call(x, y)` on the same random numbers from 0 to 1, and count the different results.

    `y` has as many elements as `x`; a result is the bits of all of them. The error is that of a single sum, relative to
    the sum in float64.
    """
    import cupy as cp

    x = cp.random.default_rng(1).random(size, dtype=cp.float32)
    exact = sum(float(part.astype(np.float64).sum()) for part in cp.array_split(x, 8))
    rows: list[Row] = []
    for name, call in calls.items():
        results, errors = set(), list[float]()
        for _ in range(runs):
            y = cp.zeros_like(x)
            call(x, y)
            results.add(int(y.view(np.int64).sum()))
            if not bool(y[1:].any()):  # a sum alone
                errors.append(abs(float(y[0]) - exact) / exact)
        row = {"call": name, "runs": runs, "different_results": len(results)}
        rows.append(row | ({"error": f"{max(errors):.0e}"} if errors else {}))
    return Table("different_results", rows, note=f"{size:,} random elements.")


def arrangements(choices: Iterable[tuple[str, str]], columns: int = 2048) -> Table:
    """Time `normalise` and `scan` with CUB's arrangements of a tile (device clock), and check their results.

    A choice is a kernel's name and the end of CUB's `BLOCK_LOAD_…`. Each row of the matrix has one block of 128
    threads; a tile has 2,048 elements.
    """
    import cupy as cp

    matrix = odd_numbers(measuring.gpu_size(8, most=2**27)).reshape(-1, columns)
    out = cp.empty_like(matrix)
    calls, results = {}, []
    for name, arrangement in choices:
        options = tuple(f"-D{move}=cub::BLOCK_{move}_{arrangement}" for move in ("LOAD", "STORE"))
        kernel = cp.RawModule(code=kernels.source(name), options=options).get_function(name)
        arguments = (matrix, out, np.int64(len(matrix)), np.int64(columns))
        call = calls[f"{name}, {arrangement}"] = partial(kernel, (len(matrix),), (128,), arguments)
        out.fill(np.nan)
        call()
        right = matrix.cumsum(axis=1) if name == "scan" else matrix / cp.linalg.norm(matrix, axis=1, keepdims=True)
        results.append("right" if bool(cp.allclose(out, right, rtol=1e-5, atol=0)) else "WRONG")
    timed = measuring.time_calls(calls, moved=2 * matrix.nbytes, name="arrangements")
    rows = [row | {"result": result} for row, result in zip(timed.rows, [*results, ""], strict=True)]
    columns_shown: list[Column] = ["way", "seconds", "bytes_per_second", "share", "result"]
    return Table("arrangements", rows, columns_shown, note=f"{len(matrix):,} rows of {columns:,} elements.")


def scans(calls: Mapping[str, Callable[[Any, Any], Any]], one_block: Callable[[Any, Any], None], size: int) -> Table:
    """Time prefix sums of `size` floats (device clock), `one_block` on 2²² of them, and `cupy.cumsum` with its copy.

    The functions take CuPy's arrays `x` and `y`. Raises AssertionError where one of them is wrong.
    """
    import cupy as cp

    x = odd_numbers(size)
    y, few = cp.empty_like(x), 2**22
    right = cp.cumsum(x)
    timed: dict[str, Callable[[], Any]] = {name: partial(call, x, y) for name, call in calls.items()}
    measuring.require_right(timed, y, lambda: (y == right).all())
    alone = summary(measuring.device_seconds(lambda: one_block(x[:few], y[:few])))["median"]
    timed |= {"cupy.cumsum": lambda: cp.cumsum(x), "its copy alone": lambda: x.astype(np.float32)}
    table = measuring.time_calls(timed, moved=2 * x.nbytes, name="scans")
    table.note = f"{size:,} elements. One block with BlockScan, on {few:,}: {tables.rate(8 * few / alone)}."
    return table


def accelerators() -> Table:
    """Time CuPy's sums over a cube of 256³ ones with and without CUB, each in a fresh process (device clock)."""
    unset = toolchain.child_environment()
    unset.pop("CUPY_ACCELERATORS", None)
    rows: list[Row] = []
    for setting, variables in (("not set", unset), ('""', unset | {"CUPY_ACCELERATORS": ""})):
        sums = fresh_process.answer(_SUMS, environment=variables)
        rows.append({"accelerators": setting, "clock": "device"} | sums)
    columns: list[Column] = [("CUPY_ACCELERATORS", "accelerators"), *list(rows[0])[1:]]
    return Table("accelerators", rows, columns, "A cube of 256³ elements.")


def launched_in_blocks(kernel: Any, blocks: Sequence[int], size: int = 256**3) -> Table:
    """Time the kernel `reduce` on `size` ones with each number of blocks (device clock)."""
    import cupy as cp

    ones, total = cp.ones(size, cp.float32), cp.zeros(1, cp.float32)
    arguments = (ones, total, np.int64(size))
    calls = {f"blocks: {number}": partial(kernel, (number,), (THREADS,), arguments) for number in blocks}
    return measuring.time_calls(calls)
