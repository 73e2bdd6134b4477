"""On a GPU: how near the clocks of `timing`, and an exercise of lesson 06, come to CUPTI. Prints a table of ratios."""

import time
from pathlib import Path
from typing import Any

import cupy
import numpy as np
import pytest

from fourways import exercises, lesson, tables, timeline, timing

SOURCE = Path(__file__).with_name("spin.cu").read_text(encoding="utf-8")
BLOCKS, THREADS, REPEATS = 256, 256, 200
STEPS = (0, 100, 200, 500, 1000, 2000, 4000, 7000, 12_000, 20_000, 50_000, 100_000, 400_000)  # about 2 ns each
CUPTI = """
import sys
import cupy, numpy as np

source, blocks, threads, repeats, *steps = sys.argv[1:]
kernel = cupy.RawModule(code=source).get_function("spin")
x = cupy.ones(int(blocks) * int(threads), cupy.float32)
for _ in range(50):
    kernel((int(blocks),), (int(threads),), (x, np.int32(int(steps[-1]))))  # until the GPU's clock is up
for count in steps:
    for _ in range(int(repeats)):
        kernel((int(blocks),), (int(threads),), (x, np.int32(int(count))))
cupy.cuda.Device().synchronize()
"""
GAP = 0.3e-6  # seconds
"""What a graph may add to a kernel of 1 to 20 µs. An H200 added 0.2 µs, the time to the next kernel."""
SHARE = 0.03
"""By which share `on_gpu` and the exercise may differ from CUPTI for a kernel of more than 20 µs."""


class RealGpu:
    """A GPU with the methods of the exercise's made-up GPUs."""

    def __init__(self, call: timing.Call) -> None:
        self.launch, self.delay, self.clock = call, timing.busy, time.perf_counter
        self.wait = cupy.cuda.Device().synchronize
        self.capture = lambda count: timing.captured(call, count)
        self.replay = lambda graph: graph.launch()

    def record(self) -> Any:
        event = cupy.cuda.Event()
        event.record()
        return event

    def elapsed(self, start: Any, stop: Any) -> float:
        stop.synchronize()
        return float(cupy.cuda.get_elapsed_time(start, stop)) / 1e3


def by_exercise(call: timing.Call) -> float:
    """Return the median of five answers of the solution of lesson 06's second exercise."""
    names: dict[str, Any] = {"exercises": exercises}
    exec(lesson.find("06").cells("solution")[1], names)
    return float(np.median([names["kernel_seconds"](RealGpu(call)) for _ in range(5)]))


def by_cupti() -> list[float]:
    """Return CUPTI's median seconds of the kernel for each of STEPS, in a fresh process."""
    rows = timeline.record(CUPTI, SOURCE, *map(str, (BLOCKS, THREADS, REPEATS, *STEPS)))
    seconds = [row["seconds"] for row in rows if row.get("name") == "spin"][-REPEATS * len(STEPS) :]
    return [float(each) for each in np.median(np.reshape(seconds, (len(STEPS), REPEATS)), axis=1)]


def by_clocks() -> dict[str, list[float]]:
    """Return the median seconds of the kernel for each of STEPS, by each clock."""
    kernel = cupy.RawModule(code=SOURCE).get_function("spin")
    x = cupy.ones(BLOCKS * THREADS, cupy.float32)

    def call(steps: int) -> Any:
        return lambda: kernel((BLOCKS,), (THREADS,), (x, np.int32(steps)))

    calls = {str(steps): call(steps) for steps in STEPS}
    taken = {"in_graph": timing.in_graph(calls).rows, "on_gpu": timing.on_gpu(calls, rounds=100).rows}
    medians = {clock: [row["seconds"]["median"] for row in rows[: len(STEPS)]] for clock, rows in taken.items()}
    return medians | {"exercise": [by_exercise(each) for each in calls.values()]}


def measured() -> list[tables.Row]:
    """Return a row for each of STEPS: seconds by CUPTI and each clock, and the clocks' ratios to CUPTI."""
    rows: list[tables.Row] = [
        {"steps": count, "CUPTI_seconds": seconds} for count, seconds in zip(STEPS, by_cupti(), strict=True)
    ]
    for clock, medians in by_clocks().items():
        for row, seconds in zip(rows, medians, strict=True):
            row |= {f"{clock}_seconds": seconds, f"{clock} / CUPTI": seconds / row["CUPTI_seconds"]}
    return rows


def outside(rows: list[tables.Row]) -> list[str]:
    """Return a line for each time beyond its clock's limit."""
    problems = []
    for row in rows:
        seconds = row["CUPTI_seconds"]
        if seconds < 1e-6:
            continue
        limit, clock = (GAP, "in_graph") if seconds <= 20e-6 else (SHARE * seconds, "on_gpu")
        for name in (clock, "exercise"):
            if abs(row[f"{name}_seconds"] - seconds) > limit:
                problems.append(f"{name}: {tables.seconds(row[f'{name}_seconds'])}, by CUPTI {tables.seconds(seconds)}")
    return problems


@pytest.mark.quiet
def test_ratios_to_cupti(capsys: pytest.CaptureFixture[str]) -> None:
    """At the third try at the latest: the two processes do not run at one time, and the GPU's clock may move."""
    pytest.importorskip("cupti", reason="cupti-python is not installed")
    for _ in range(3):
        rows = measured()
        with capsys.disabled():
            print("", tables.Table("accuracy", rows), sep="\n")
        if not (problems := outside(rows)):
            break
    assert not problems
