"""Benchmarks without a GPU: compilers beside each other, signatures, the host way, broadcasts beside storms."""

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ratios import ratio, table
from typer.main import get_command

from fourways import book, building, choosing, cli, kernels, lesson, timing, toolchain
from fourways.experiments import cluster, held_out
from fourways.tables import Row, Table

DOUBLIFY = kernels.path("doublify")


def tables() -> Iterator[Table]:
    """All tables of this group."""
    yield table(compilers(), "Host clock; doublify for sm_90.")
    yield table(signatures(), "Host clock, in this process; the first call of each does not count.")
    yield table(host_way(), "Host clock; the stage `build` of doublify's first result.")
    if toolchain.installed("jupyter_book"):
        yield table([whole_book()], "Host clock; all pages, by `fourways book`.")
    else:
        print("the book: skipped: Jupyter Book is not installed")
    yield table(model(), "Host clock; the model of lesson 14, from other processes, for the host way.")
    if toolchain.installed("distributed"):
        yield table(storms(), "CPU seconds of eight workers together.")
    else:
        print("broadcasts: skipped: distributed is not installed")


def compilers() -> list[Row]:
    """NVRTC, a library, beside nvcc, a process; CMake's second build beside its first."""
    nvrtc, nvcc = building.rows(DOUBLIFY, ["nvrtc", "nvcc"])
    rows = [ratio("nvrtc", nvrtc["seconds"]["median"], "nvcc", nvcc["seconds"]["median"], "less than 1")]
    (module,) = building.rows(DOUBLIFY, ["cmake"])
    again, first = module["cached_seconds"]["median"], module["seconds"]["median"]
    return [*rows, ratio("cmake, nothing to do", again, "cmake", first, "0.1 at most")]


def signatures() -> list[Row]:
    """The compiler's answer for a kernel's parameters, beside the kernel's own build by NVRTC."""
    rows = []
    for name in ("doublify", "stencil", "long_scan"):
        path = kernels.path(name)
        asked = taken(lambda path=path: building.signatures(path))
        built = taken(lambda path=path: building.build(path, "nvrtc", "sm_90"))
        rows.append(ratio(f"signatures of {name}", asked, "its build by NVRTC", built))
    return rows


def taken(call: Callable[[], Any]) -> float:
    """The median seconds of five calls, after one that does not count."""
    samples = []
    for _ in range(6):
        start = time.perf_counter()
        call()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples[1:])


def host_way() -> list[Row]:
    """The second process finds what the first one built."""
    cold, warm = timing.first_results("01", ["host"]).rows
    return [ratio("warm", warm["stages"]["build"], "cold", cold["stages"]["build"], "less than 1")]


def whole_book() -> Row:
    """The build of the whole book, beside the 90 seconds that it may take on two processors."""
    start = time.perf_counter()
    with TemporaryDirectory() as folder:
        book.build(book.pages(get_command(cli.app)), Path(folder, "book"))
    return ratio("the whole book", time.perf_counter() - start, "its limit", 90.0, "1 at most")


def model() -> list[Row]:
    """So many launches that they take about four times as long as the start of the process."""
    lesson_01 = lesson.find("01")
    several = [timing.first_result(lesson_01, "host", {}, launches=1000) for _ in range(3)]  # the quickest of each
    launch = min(stages["launches"] for stages in several) / 1000
    start = min(stages["start"] + stages["import"] for stages in several)
    cost = choosing.Cost("host", {"start": start}, start, start, launch)
    programs = [held_out.Program("many", int(4 * start / launch)), held_out.Program("one", 1)]
    measured = held_out.held_out("01", {"now": {"host": cost}}, programs, runs=3).rows
    names = [f"the model of {row['launches']:,} launches" for row in measured]
    return [
        ratio(name, row["predicted"]["now"], "such a process", row["seconds"], "0.85 to 1.15")
        for name, row in zip(names, measured, strict=True)
    ]


def storms() -> list[Row]:
    """One worker builds for all, beside each for itself."""
    with cluster.workers(8, allowed_deaths=1) as client:
        measured = cluster.compare_plans(client, kernels.path("stencil"), "sm_90", nvcc=True).rows
    cpu = {row["plan"]: row["cpu_seconds"]["median"] for row in measured}
    pairs = (("one builds, broadcast", "each its own empty cache"), ("one by nvcc, broadcast", "each by nvcc"))
    return [ratio(one, cpu[one], storm, cpu[storm], "0.2 at most") for one, storm in pairs]
