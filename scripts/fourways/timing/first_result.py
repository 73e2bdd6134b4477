"""From process start to the first right answer, taken apart: every sample is a fresh process."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fourways import building, figures, kernels, lesson, toolchain
from fourways.stages import STAGES
from fourways.tables import Row, Table, seconds, summary

STATES = ("cold", "warm")
SAMPLES = 3
"""Fresh processes for each way and state; an odd number, so that the stages of the median run add up to the median."""


class FirstResultError(RuntimeError):
    """A fresh process failed or gave a wrong answer; the message holds its own words."""


def first_result(
    found: lesson.Lesson, way: str, variables: dict[str, str], binding: Path | None = None
) -> dict[str, float]:
    """One fresh process, 16 elements: the seconds of each stage, up to the moment when the GPU is done.

    `variables` are environment variables of that process; `binding` is a folder whose `fourways_aot` is imported in
    place of the installed one. Raises FirstResultError if the process fails or its answer is wrong.
    """
    told = lesson.task(found.number, way, 16, binding=binding) | {"spawned": time.time()}
    done = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("first_result_process.py"))],
        input=json.dumps(told),
        capture_output=True,
        text=True,
        timeout=600,
        env=toolchain.child_environment() | variables,
        cwd=kernels.root() / "lessons",
    )
    if done.returncode:
        raise FirstResultError(f"{way}: a fresh process failed:\n{done.stderr.strip()}")
    answer = json.loads(done.stdout.splitlines()[-1])
    if answer["problem"]:
        raise FirstResultError(f"{way}: {answer['problem']}")
    return answer["stages"]


def _rows(found: lesson.Lesson, ways: Sequence[str]) -> list[Row]:
    """Two rows for each way: `cold` (empty caches, nothing built) and `warm` (caches filled by a run before).

    Each has `stages`, the seconds of each stage in the median run, and `seconds`, median, p10 and p90 of the whole.
    The ways take turns, so that a machine that slows down slows all of them. CMake builds the binding once, and those
    seconds are part of each of its cold runs. Files are in the operating system's cache in both states: a machine that
    has just booted is slower.
    """
    runs: dict[tuple[str, str], list[dict[str, float]]] = {(way, state): [] for way in ways for state in STATES}
    with tempfile.TemporaryDirectory(prefix="fourways-") as base:
        kernel, cmake = str(found.meta["kernel"]), Path(base, "cmake")
        built = {way: building.build_binding(kernel, cmake) for way in ways if way == "pybind11"}

        def sample(way: str, number: int) -> dict[str, float]:
            caches = toolchain.cold_caches(Path(base, way, str(number)))
            return first_result(found, way, caches, cmake if way in built else None)

        for number in range(SAMPLES):
            for way in ways:
                stages = sample(way, number)
                runs[way, "cold"].append(stages | {"build": stages["build"] + built.get(way, 0.0)})
        for _ in range(SAMPLES):
            for way in ways:
                runs[way, "warm"].append(sample(way, SAMPLES - 1))
    return [
        {
            "way": way,
            "state": state,
            "clock": "host",
            "stages": sorted(samples, key=_total)[len(samples) // 2],
            "seconds": summary([_total(stages) for stages in samples]),
        }
        for (way, state), samples in runs.items()
    ]


def _total(stages: dict[str, float]) -> float:
    return sum(stages.values())


def first_results(name: str, ways: Sequence[str] = lesson.WAYS) -> Table:
    """The first results of lesson `name`, for each of `ways` that can run here, as a table with a column a stage."""
    found = lesson.find(name)
    runnable = [way for way in ways if found.cells(f"way-{way}") and not toolchain.missing(way)]
    for way in runnable:
        first_result(found, way, {})  # warm-up: libraries come into the operating system's cache of files
    return first_result_table(_rows(found, runnable))


def first_result_table(rows: Sequence[Row]) -> Table:
    """The rows of `first_results` as a table."""
    columns = [
        ("way", lambda row: row["way"]),
        ("caches", lambda row: row["state"]),
        *((name, lambda row, name=name: seconds(row["stages"][name])) for name in STAGES),
        ("total", lambda row: seconds(row["seconds"]["median"])),
    ]
    counts = " and of ".join(f"{row['seconds']['samples']} {row['state']}" for row in rows[:2])
    return Table("first_result", rows, columns, f"Host clock; the median of {counts} fresh processes.")


def first_result_figure(rows: Sequence[Row], kernel: str) -> Any:
    """The stages of every way's median run as stacked bars, cold above warm."""
    panels: dict[str, dict[str, dict[str, float]]] = {state: {} for state in STATES}
    for row in rows:
        panels[row["state"]][row["way"]] = row["stages"]
    return figures.stacked_bars(panels, "seconds from process start (host clock)", f"The first result of {kernel}")
