"""From process start to the first right answer, taken apart: every sample is a fresh process.

The stages, by the host's clock: *start* (the interpreter), *import* (NumPy, CuPy, PyCUDA …), *context* (the driver
sets up the GPU), *inputs* (made, copied to the GPU), *build* (source to machine code, or finding it in a cache),
*load* (machine code to the driver) and *launch* (the first call, waited for).
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fourways import kernels, lesson, toolchain
from fourways.tables import Row, Table, seconds
from fourways.timing import summary

STAGES = ("start", "import", "context", "inputs", "build", "load", "launch")

STATES = ("cold", "warm")

Environment = dict[str, str]


class FirstResultError(RuntimeError):
    """A fresh process failed or gave a wrong answer; the message holds its own words."""


def cold_caches(folder: Path) -> Environment:
    """Environment variables that point every compiler cache below `folder`, where they are made."""
    caches = {
        name: folder / name for name in ("CUPY_CACHE_DIR", "PYCUDA_CACHE_DIR", "CUDA_CACHE_PATH", "FOURWAYS_CACHE_DIR")
    }
    for cache in caches.values():
        cache.mkdir(parents=True, exist_ok=True)
    return {name: str(cache) for name, cache in caches.items()}


def run(
    found: lesson.Lesson, way: str, environment: Environment, binding: Path | None = None, size: int = 16
) -> dict[str, float]:
    """One fresh process, `size` elements: the seconds of each stage, up to the moment when the GPU is done.

    `binding` is a folder whose `fourways_aot` is imported in place of the installed one.
    Raises FirstResultError if the process fails or its answer is wrong.
    """
    task = {
        "way": way,
        "kernel": str(found.meta["kernel"]),
        "setup": "\n".join(found.cells("setup")),
        "cell": "\n".join(found.cells(f"way-{way}")),
        "rtol": float(found.meta.get("rtol", 0.0)),
        "size": size,
        "binding": binding and str(binding),
        "spawned": time.time(),
    }
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("_first_process.py"))],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        timeout=600,
        env=lesson.process_environment() | environment,
        cwd=kernels.root() / "lessons",
    )
    if done.returncode:
        raise FirstResultError(f"{way}: a fresh process failed:\n{done.stderr.strip()}")
    answer = json.loads(done.stdout.splitlines()[-1])
    if answer["problem"]:
        raise FirstResultError(f"{way}: {answer['problem']}")
    return answer["stages"]


def build_binding(kernel: str, folder: Path, cpp: Path | None = None, options: Sequence[str] = ()) -> float:
    """Build the pybind11 module with this one kernel in `folder`, and return the seconds it took.

    `cpp` is the folder of `CMakeLists.txt`, by default the clone's own; `options` are CMake's, as
    `-DCMAKE_CUDA_FLAGS=-lineinfo`. Calling again rebuilds what has changed.
    Raises FirstResultError with CMake's own words.
    """
    configure = [
        *("cmake", "-S", str(cpp or kernels.root() / "cpp"), "-B", str(folder), "-G", "Ninja"),
        *(f"-DFOURWAYS_KERNELS={kernel}", f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release"),
        *options,
    ]
    environment = os.environ | toolchain.environment()
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"  # the wheels' cmake, ninja
    start = time.perf_counter()
    commands = [] if (folder / "CMakeCache.txt").exists() else [configure]
    for command in [*commands, ["cmake", "--build", str(folder)]]:
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise FirstResultError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return time.perf_counter() - start


def first_results(found: lesson.Lesson, ways: Sequence[str], cold: int = 3, warm: int = 3) -> list[Row]:
    """Two rows for each way: `cold` (empty caches, nothing built) and `warm` (caches filled by a run before).

    Each has `stages`, the seconds of each stage in the median run, and `seconds`, median, p10 and p90 of the whole;
    with odd counts the stages add up to the median. The ways take turns, so that a machine that slows down slows all
    of them. CMake builds the binding once, and those seconds are part of each of its cold runs. Files are in the
    operating system's cache in both states: a machine that has just booted is slower.
    """
    runs: dict[tuple[str, str], list[dict[str, float]]] = {(way, state): [] for way in ways for state in STATES}
    with tempfile.TemporaryDirectory(prefix="fourways-") as base:
        kernel, cmake = str(found.meta["kernel"]), Path(base, "cmake")
        built = {way: build_binding(kernel, cmake) for way in ways if way == "pybind11"}

        def places(way: str, number: int) -> tuple[Environment, Path | None]:
            return cold_caches(Path(base, way, str(number))), cmake if way in built else None

        for number in range(cold):
            for way in ways:
                stages = run(found, way, *places(way, number))
                runs[way, "cold"].append(stages | {"build": stages["build"] + built.get(way, 0.0)})
        for _ in range(warm):
            for way in ways:
                runs[way, "warm"].append(run(found, way, *places(way, cold - 1)))
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


def compare(name: str, ways: tuple[str, ...] = lesson.WAYS) -> Table:
    """The first results of lesson `name`, for each of `ways` that can run here, as a table with a column a stage."""
    found = lesson.find(name)
    runnable = [way for way in ways if found.cells(f"way-{way}") and not toolchain.missing(way)]
    for way in runnable:
        run(found, way, {})  # warm-up: libraries come into the operating system's cache of files
    return table(first_results(found, runnable))


def table(rows: Sequence[Row]) -> Table:
    """The rows of `first_results` as a table."""
    columns = [
        ("way", lambda row: row["way"]),
        ("caches", lambda row: row["state"]),
        *((name, lambda row, name=name: seconds(row["stages"][name])) for name in STAGES),
        ("total", lambda row: seconds(row["seconds"]["median"])),
    ]
    counts = " and of ".join(f"{row['seconds']['samples']} {row['state']}" for row in rows[:2])
    return Table("first_result", rows, columns, f"Host clock; the median of {counts} fresh processes.")


def figure(rows: Sequence[Row], kernel: str) -> Any:
    """The stages of every way's median run as stacked bars, cold above warm."""
    from fourways import figures

    panels: dict[str, dict[str, dict[str, float]]] = {state: {} for state in STATES}
    for row in rows:
        panels[row["state"]][row["way"]] = row["stages"]
    return figures.stacked_bars(panels, "seconds from process start (host clock)", f"The first result of {kernel}")
