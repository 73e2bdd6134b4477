"""Kernels that CuPy and pystencils wrote, against kernels by hand and the copy of as many bytes."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fourways import files, kernels, measuring, sass
from fourways.tables import RANGE, Column, Table

SIDE = 8192
"""The rows and columns of the large plate, 256 MiB of float32."""
Step = Callable[[Any, Any], Any]
"""A function of two plates on the GPU, u and v, that writes the inner cells of v."""


def views(u: Any) -> tuple[Any, Any, Any, Any]:
    """Return the neighbours of a plate's inner cells as views, above, below, left, right: (rows - 2, columns - 2)."""
    return u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], u[1:-1, 2:]


def against_copy(steps: Mapping[str, Step], reference: Callable[[Any], Any], name: str) -> Table:
    """Time steps of a large plate (device clock), the host's time to launch each, and the copy of as many bytes.

    The plate has SIDE rows and columns. v begins as a copy of u. Raises AssertionError if an answer differs from
    `reference(u)`, which takes and returns CuPy's arrays. `name` is the table's name.
    """
    import cupy as cp

    u = cp.random.default_rng(1).random((SIDE, SIDE), dtype=cp.float32)
    wanted, v = reference(u), u.copy()
    calls = {title: partial(step, u, v) for title, step in steps.items()}
    measuring.require_right(calls, v[1:-1, 1:-1], lambda: (v == wanted).all())
    return _timed(calls, 2 * u.nbytes, name)


def _timed(calls: Mapping[str, Callable[[], Any]], moved: int, name: str) -> Table:
    """Time calls in turns (device clock), the host's time to launch each, and the copy of as many bytes."""
    timed = measuring.time_calls(calls, moved=moved, name=name)
    launches = measuring.time_calls(calls, clock="launch")
    for row, launch in zip(timed.rows, launches.rows, strict=False):  # the copy is not launched
        row["launch_seconds"] = launch["seconds"]["median"]
    shown: list[Column] = ["way", "seconds", RANGE, ("of the copy", "share"), ("launch (host)", "launch_seconds")]
    return Table(name, timed.rows, shown, f"{SIDE:,} rows; device clock, launches by the host clock.")


def launcher(text: str, block: tuple[int, int], cells: tuple[int, int] | None = None, *options: str) -> Step:
    """Return a step that launches the first kernel(u, v, h, w) of a text, compiled by NVRTC with these options.

    A block has `block` threads (x, y) and computes `cells` (x, y), by default a cell for each thread. With the option
    "-DDIVIDE" the grid is one row of blocks that counts all cells.
    """
    import cupy as cp

    (name, *_) = kernels.parameters(text)
    kernel = cp.RawModule(code=text, options=options).get_function(name)
    across, down = cells or block

    def step(u: Any, v: Any) -> None:
        h, w = u.shape
        grid = (-(-h * w // across), 1) if "-DDIVIDE" in options else (-(-w // across), -(-h // down))
        kernel(grid, block, (u, v, np.int64(h), np.int64(w)))

    return step


def suspects(mean_of_four: Callable[..., Any], naive: Mapping[str, Step], reference: Callable[[Any], Any]) -> Table:
    """Time steps by hand and an ElementwiseKernel (device clock) on a plate of SIDE rows and columns.

    `mean_of_four(above, below, left, right, mean)` gets the plate's views, with CuPy's blocks of 128 threads and with
    larger ones; and flat views without gaps, which also write cells of the border. The views are made before. Raises
    AssertionError if inner cells are wrong.
    """
    import cupy as cp

    u = cp.random.default_rng(1).random((SIDE, SIDE), dtype=cp.float32)
    v, wanted = cp.empty_like(u), reference(u)
    cells, from_u, from_v = SIDE * (SIDE - 2), u.reshape(-1), v.reshape(-1)
    parts = [from_u[start : start + cells] for start in (0, 2 * SIDE, SIDE - 1, SIDE + 1)]
    on_views = partial(mean_of_four, *views(u), v[1:-1, 1:-1])
    calls: dict[str, Callable[[], Any]] = {name: partial(step, u, v) for name, step in naive.items()}
    calls["ElementwiseKernel"] = on_views
    calls["ElementwiseKernel, flat views"] = partial(mean_of_four, *parts, from_v[SIDE : SIDE + cells])
    for size in (256, 512):
        calls[f"ElementwiseKernel, block_size={size}"] = partial(on_views, block_size=size)
    measuring.require_right(calls, v, lambda: (v == wanted)[1:-1, 1:-1].all())
    return _timed(calls, 2 * u.nbytes, "suspects")


def instructions(texts: Mapping[str, str | Path]) -> None:
    """Print the number of machine instructions of each kernel text or file, by NVRTC for sm_90, and of integer ones.

    A text may use CuPy's arrays: then CuPy's header stands before it.
    """
    import cupy as cp

    headers = Path(cp.__file__).parent / "_core" / "include"
    for name, text in texts.items():
        options: list[str] = []
        if "CArray<" in str(text):
            options, text = [f"-I{headers}", "-std=c++17"], f"#include <cupy/carray.cuh>\n{text}"
        kinds = Counter(line.kind for line in sass.listing(files.source_file(text), options=options))
        print(f"{name}: {kinds.total()} instructions, {kinds['integer']} of them integer arithmetic")
