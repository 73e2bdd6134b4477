"""Small whole programs, each run in many fresh processes, and timed stage by stage.

Comments of one word, such as `# import`, mark the stages in a program. The clock is read there, and nowhere else, so
the text stays as its reader sees it. `start` is the interpreter's time before the first line, `end` the time from the
last line until the process is gone.
"""

import ast
import itertools
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fourways import building, kernels, measuring, toolchain
from fourways.choosing import Cost
from fourways.stages import PROGRAM_STAGES
from fourways.tables import RANGE, Column, Row, Table, seconds, seconds_range, summary

_BEFORE = "import time\n_marks = []\n"
_AFTER = "\n_marks.append(time.time())\nprint(_marks)\n"


class ProgramError(RuntimeError):
    """A program that has no stages, failed, or gave a wrong answer; the message holds the program's error."""


Programs = Mapping[str, tuple[str, Sequence[str | Path]]]
"""The text of each program, by name, and the words in its `sys.argv[2:]`."""


def lean(folder: Path) -> Programs:
    """Return programs that double a thousand threes on the first GPU, each without what its way does not need.

    They lie in the folder `programs` beside this file; "CuPy, source" is `cupy_cubin` with the source in place of the
    path. Their machine code is built into `folder`. Programs whose library is not installed are left out.
    """
    source, cubin = kernels.path("doublify"), folder / "doublify.cubin"
    cubin.write_bytes(building.build(source, arch=toolchain.gpu_arch()).code)
    by_cupy = text("cupy_cubin")
    needs = {
        "CuPy, source": ("cupy", by_cupy.replace("path=sys.argv[2]", "code=open(sys.argv[2]).read()"), [source]),
        "CuPy, cubin": ("cupy", by_cupy, [cubin]),
        "PyCUDA": ("pycuda", text("pycuda_alone"), [source]),
        "binding": ("fourways_aot", text("binding_alone"), []),
        "cuda.core": ("cuda.core", text("cuda_core"), [cubin]),
    }
    return {name: (program, words) for name, (module, program, words) in needs.items() if toolchain.installed(module)}


def text(program: str) -> str:
    """Return the text of one of the programs beside this file."""
    return (Path(__file__).parent / "programs" / f"{program}.py").read_text(encoding="utf-8")


def run(programs: Programs, runs: int = 21, launches: int = 1000, cold: bool = False) -> Table:
    """Run each program in `runs` fresh processes; return a row for each, with its stages and the spread of its total.

    A program's `sys.argv[1]` is `launches`, the number of launches in its stage `launches`. Each program runs once for
    warm-up, then the programs take turns. With `cold`, every run has its own, empty compiler caches.
    `seconds` is the time of the whole process, as its parent sees it, without the stage `launches`. `stages` are those
    of the median run (take an odd number of runs). `launch_seconds` is the time of a launch in the stage `launches`.
    Raises ProgramError if a program has no stages or fails.
    """
    samples: dict[str, list[dict[str, float]]] = {name: [] for name in programs}
    with tempfile.TemporaryDirectory(prefix="fourways-") as base:
        files = {}
        for number, (name, (text, _)) in enumerate(programs.items()):
            files[name] = Path(base, f"program_{number}.py")
            files[name].write_text(_with_clock(name, text), encoding="utf-8")

        def run(turn: tuple[int, str]) -> dict[str, float]:
            number, name = turn
            text, arguments = programs[name]
            caches = toolchain.cold_caches(Path(base, f"caches_{number}")) if cold else {}
            return _run(name, [files[name], launches, *arguments], _stages(text), caches)

        with ThreadPoolExecutor() as pool:  # nothing is timed here
            list(pool.map(run, enumerate(programs)))
        for turn in enumerate(measuring.turns(runs, list(programs)), len(programs)):
            samples[turn[1]].append(run(turn))
    rows: list[Row] = []
    for name, measured in samples.items():
        loops = [stages.pop("launches", 0.0) / max(1, launches) for stages in measured]
        measured.sort(key=lambda stages: sum(stages.values()))
        row = {"program": name, "state": "cold" if cold else "warm", "clock": "host", "stages": measured[runs // 2]}
        row["seconds"] = summary([sum(stages.values()) for stages in measured])
        rows.append(row | ({"launch_seconds": summary(loops)} if launches else {}))
    return _table(rows)


def costs(rows: Sequence[Row], origin: str = "this machine") -> dict[str, Cost]:
    """Return rows of `run`, with launches, as costs for the model; `check` and `end` are part of their start."""
    return {
        row["program"]: Cost(
            name=row["program"],
            stages=row["stages"],
            low=row["seconds"]["p10"],
            high=row["seconds"]["p90"],
            launch=row["launch_seconds"]["median"],
            origin=origin,
        )
        for row in rows
    }


def _stages(text: str) -> list[str]:
    """Return the stages in a program's comments, in order."""
    return [name for name in re.findall(r"^# (\w+)$", text, re.MULTILINE) if name in PROGRAM_STAGES]


def _with_clock(name: str, text: str) -> str:
    """Return a program that reads the clock at its comments, and prints the readings at the end."""
    own = "|".join(_stages(text))
    if not own:
        raise ProgramError(f"{name}: no comment such as `# import` says where a stage begins")
    return _BEFORE + re.sub(rf"^# ({own})$", "_marks.append(time.time())", text, flags=re.MULTILINE) + _AFTER


def _run(name: str, words: Sequence[object], stages: Sequence[str], caches: dict[str, str]) -> dict[str, float]:
    command = [sys.executable, "-P", *map(str, words)]
    environment = toolchain.child_environment() | caches
    begin = time.time()
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    end = time.time()
    if done.returncode:
        raise ProgramError(f"{name}: a fresh process failed:\n{done.stderr.strip()}")
    marks = [begin, *ast.literal_eval(done.stdout.splitlines()[-1]), end]
    lengths = [later - earlier for earlier, later in itertools.pairwise(marks)]
    return dict(zip(["start", *stages, "end"], lengths, strict=True))


def _table(rows: Sequence[Row]) -> Table:
    names = [name for name in PROGRAM_STAGES if any(name in row["stages"] for row in rows)]
    columns: list[Column] = [
        "program",
        ("caches", "state"),
        *((name, lambda row, name=name: seconds(row["stages"].get(name))) for name in names),
        ("total", "seconds"),
        ("p10 – p90", RANGE[1]),
    ]
    if all("launch_seconds" in row for row in rows):
        columns.append(("a launch", lambda row: seconds_range(*(row["launch_seconds"][end] for end in ("p10", "p90")))))
    count = rows[0]["seconds"]["samples"] if rows else 0
    return Table("staged_programs", rows, columns, f"Host clock; {count} fresh processes each, from start to end.")
