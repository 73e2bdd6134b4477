"""What NVRTC and nvcc make of kernels that use CUB. Only `cub_versions` needs a GPU."""

import re
from collections.abc import Mapping

import numpy as np

from fourways import building, measuring, tables
from fourways.tables import Column, Row, Table, summary

_BUILDS = 7  # of each text by each compiler in a recording
_VERSION = """
#include <cub/block/block_reduce.cuh>
extern "C" __global__ void version(int *y) { *y = CUB_VERSION; }
"""


def builds(texts: Mapping[str, str]) -> Table:
    """Compile each text with both compilers for sm_90 (host clock, medians, in turns)."""
    pairs = [(name, compiler) for name in texts for compiler in building.COMPILERS]
    samples: dict[tuple[str, str], list[building.Build]] = {pair: [] for pair in pairs}
    rounds = measuring.rounds(_BUILDS)
    for name, compiler in measuring.turns(rounds, pairs):
        samples[name, compiler].append(building.build(texts[name], compiler, arch="sm_90"))
    rows: list[Row] = []
    for (name, compiler), built in samples.items():
        seconds = summary([one.seconds for one in built])
        row = {"kernel": name, "compiler": compiler, "clock": "host", "seconds": seconds}
        rows.append(row | {"registers": built[0].registers})
    columns: list[Column] = ["kernel", "compiler", "seconds", tables.RANGE, "registers"]
    return Table("cub_builds", rows, columns, f"Host clock. For sm_90, {rounds} builds each.")


def refusals(texts: Mapping[str, str]) -> Table:
    """Compile each text with both compilers, and return what each says: "compiles", or its first error."""
    rows: list[Row] = []
    for name, text in texts.items():
        row: Row = {"text": name}
        for compiler in building.COMPILERS:
            try:
                building.build(text, compiler, arch="sm_90")
                row[compiler] = "compiles"
            except building.BuildError as refused:
                lines = [line for line in str(refused).splitlines() if "error" in line]
                row[compiler] = lines[0].split("): ")[-1].removeprefix("catastrophic ").removeprefix("error: ")
        rows.append(row)
    return Table("refusals", rows)


def cub_versions() -> dict[str, str]:
    """Return the versions of CUB that CuPy's `RawModule` includes, and that nvcc takes from the toolkit."""
    import cupy as cp

    y = cp.zeros(1, np.int32)
    cp.RawModule(code=_VERSION).get_function("version")((1,), (1,), (y,))
    ptx = building.build(_VERSION, "nvcc", output="ptx").code.decode()
    numbers = {"CuPy's RawModule": int(y[0]), "the toolkit": max(map(int, re.findall(r"\b\d{6}\b", ptx)))}
    return {name: f"{number // 100_000}.{number // 100 % 1000}.{number % 100}" for name, number in numbers.items()}
