"""Machine code and PTX, loaded on this GPU and timed."""

import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fourways import building, fresh_process, kernels, measuring, toolchain
from fourways.tables import RANGE, Row, Table, summary

NEWER = "PTX of a newer toolkit"
"""The name of PTX whose version number is higher than any driver's."""


def code(name: str) -> bytes:
    """Return the stencil's code by its name: machine code "sm_90", PTX "compute_75", or `NEWER`; compiled by NVRTC.

    `NEWER` is PTX for compute_75 with the version number 99.0.
    """
    if name == NEWER:
        return re.sub(rb"\.version \d+\.\d+", b".version 99.0", code("compute_75"))
    kind, number = name.split("_")
    return building.build(kernels.path("stencil"), "nvrtc", number, "ptx" if kind == "compute" else "cubin").code


def _loaded(file: Path) -> Any:
    """Load the code in a file, and return its kernel `stencil`. CuPy keeps modules by path: take a new path each time.

    Raises cupy.cuda.driver.CUDADriverError if the driver refuses the code.
    """
    import cupy as cp

    kernel = cp.RawModule(path=str(file)).get_function("stencil")
    assert kernel.num_regs > 0  # asks for the function, so the code has been loaded
    return kernel


def attempt(names: Sequence[str]) -> Table:
    """Load each code on this GPU, and return a table: what the driver said, and what `toolchain.runs_on` says."""
    import cupy as cp

    gpu, rows = toolchain.gpus()[0].arch, []
    with TemporaryDirectory(prefix="fourways-") as folder:
        for number, name in enumerate(names):
            file = Path(folder, str(number))
            file.write_bytes(code(name))
            try:
                _loaded(file)
                said = "loaded"
            except cp.cuda.driver.CUDADriverError as error:
                said = str(error).split(":")[0]
            rule = {} if name == NEWER else {"rule": toolchain.runs_on([name], gpu)}
            rows.append({"code": name, "driver": said} | rule)
    return Table("codes", rows, ["code", ("starts, by the rule", "rule"), (f"the driver of {gpu}", "driver")])


_IN_A_NEW_PROCESS = """
import json, sys, time
import cupy as cp
for path in json.load(sys.stdin)["paths"]:  # the first one pays for the context
    start = time.perf_counter()
    cp.RawModule(path=path).get_function("stencil").num_regs
    seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds}))
"""


def first_loads(rounds: int = 7) -> Table:
    """Time loading the stencil (host clock): machine code for this GPU, PTX that is new to the driver, and known PTX.

    A comment with the time makes PTX new, so that the driver's cache cannot hold it. Each round loads it twice in this
    process, and once more in a fresh one.
    """
    own, ptx = code(toolchain.gpus()[0].arch), code("compute_75").rstrip(b"\0")
    names = ("machine code", "PTX, new", "PTX, again", "PTX, in another process")
    samples: dict[str, list[float]] = {name: [] for name in names}
    with TemporaryDirectory(prefix="fourways-") as folder:
        for number in range(rounds + 1):  # the first round is a warm-up
            unseen = ptx + f"// {time.time_ns()}\n".encode()
            for name, content in zip(names, (own, unseen, unseen), strict=False):
                file = Path(folder, f"{number} {name}")
                file.write_bytes(content)
                start = time.perf_counter()
                _loaded(file)
                samples[name].append(time.perf_counter() - start)
            task = {"paths": [f"{folder}/{number} {name}" for name in names[:2]]}
            variables = toolchain.child_environment()
            answer = fresh_process.answer(_IN_A_NEW_PROCESS, task=task, environment=variables)
            samples[names[3]].append(answer["seconds"])
    rows: list[Row] = [
        {"load": name, "clock": "host", "seconds": summary(seconds[1:])} for name, seconds in samples.items()
    ]
    return Table("first_loads", rows, [("loading", "load"), "seconds", RANGE], f"Host clock, {rounds} rounds.")


def speeds(blocks: Callable[[Any], tuple[int, int]], block: tuple[int, int], side: int = 4096) -> Table:
    """Time the stencil on a plate of side² cells (device clock): from machine code for this GPU, from PTX for 7.5.

    `blocks(u)` is the grid for a plate. Raises AssertionError if the two differ in their result.
    """
    import cupy as cp

    u = cp.random.default_rng(1).random((side, side), dtype=cp.float32)
    calls, results = {}, []
    with TemporaryDirectory(prefix="fourways-") as folder:
        for title, name in (("machine code", toolchain.gpus()[0].arch), ("PTX for 7.5", "compute_75")):
            file, v = Path(folder, name), cp.full_like(u, np.nan)
            file.write_bytes(code(name))
            calls[title] = partial(_loaded(file), blocks(u), block, (u, v, np.int64(side), np.int64(side)))
            calls[title]()
            results.append(v)
        assert bool((results[0] == results[1]).all()), "the two codes differ in their result"
        return measuring.time_calls(calls, moved=2 * u.nbytes, name="speeds")
