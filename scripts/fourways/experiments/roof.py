"""What the page on the road to the roof measures: variants of a stencil against the copy of as many bytes.

The machine code needs no GPU.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fourways import building, measuring, sass
from fourways.tables import Column, Row, Table

Kernel = tuple[str, tuple[str, ...], tuple[int, int], tuple[int, int]]
"""The text of a kernel, options of NVRTC, the threads of a block (x, y), and the cells that a block computes (x, y)."""


def race(variants: Mapping[str, Kernel], reference: Callable[[Any], Any], name: str) -> Table:
    """Time kernels that step one large plate (device clock), and the device copy of as many bytes.

    A variant's name begins with that of its kernel(u, v, h, w), up to a comma; u and v are float32 of h by w.
    `reference(u)` takes and returns CuPy's arrays. A variant called `…, odd width` gets a plate that is one cell
    narrower. The table is called `name`.
    Raises AssertionError if an answer is wrong.
    """
    import cupy as cp

    side = int(measuring.gpu_size(bytes_per_element=32, most=2**28) ** 0.5) // 4 * 4
    plate = cp.random.default_rng(1).random((side, side), dtype=cp.float32)
    narrow = cp.ascontiguousarray(plate[:, :-1])
    pairs = {each.shape: (each, cp.empty_like(each)) for each in (plate, narrow)}
    calls: dict[str, Callable[[], None]] = {}
    registers: list[int] = []
    for variant, (text, options, block, (across, down)) in variants.items():
        kernel = cp.RawModule(code=text, options=options).get_function(variant.split(",")[0])
        u, v = pairs[(narrow if variant.endswith("odd width") else plate).shape]
        v.fill(cp.nan)
        h, w = u.shape
        arguments = (-(-w // across), -(-h // down)), block, (u, v, np.int64(h), np.int64(w))
        calls[variant] = functools.partial(kernel, *arguments)
        calls[variant]()
        assert bool((v == reference(u)).all()), f"{variant}: a wrong answer"
        registers.append(kernel.num_regs)
    timed = measuring.time_calls(calls, moved=2 * plate.nbytes, name=name)
    rows = [row | {"registers": count} for row, count in zip(timed.rows, [*registers, None], strict=True)]
    columns: list[Column] = ["way", "seconds", "bytes_per_second", "share", "registers"]
    return Table(name, rows, columns, f"{side} × {side} cells, device clock.")


def machine_code(variants: Mapping[str, tuple[str, tuple[str, ...]]]) -> Table:
    """Count instructions in the machine code that NVRTC makes of each text with its options, for sm_90.

    Each instruction counts once, however often a thread executes it. `calls` are calls of a function in the kernel's
    code, as a division of 64-bit integers is one.
    """
    rows: list[Row] = []
    for name, (text, options) in variants.items():
        code = sass.parse(sass.disassemble(building.build(text, "nvrtc", options=options, arch="sm_90").code))
        bases = [line.base for line in code]
        row = {"kernel": name, "instructions": len(code), "loads": bases.count("LDG"), "calls": bases.count("CALL")}
        rows.append(row)
    return Table("machine_code", rows, note="For sm_90, by NVRTC.")
