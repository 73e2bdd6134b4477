"""Small whole programs, each run in many fresh processes, and timed stage by stage.

Comments of one word, such as `# import`, mark the stages in a program; `fresh_process` reads the clock there.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from fourways import building, fresh_process, kernels, toolchain
from fourways.experiments.choosing import Cost
from fourways.tables import RANGE, Column, Row, Table, seconds, seconds_range, summary

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


def run(programs: Programs, runs: int = 21, launches: int = 1000) -> Table:
    """Run each program in `runs` fresh processes; return a row for each, with its stages and the spread of its total.

    A program's `sys.argv[1]` is `launches`, the number of launches in its stage `launches`. Each program runs once for
    warm-up, then the programs take turns.
    `seconds` is the time of the whole process, as its parent sees it, without the stage `launches`. `stages` are those
    of the median run (take an odd number of runs). `launch_seconds` is the time of a launch in the stage `launches`.
    Raises ProgramError if a program has no stages or fails.
    """
    words = {name: (program, launches, *arguments) for name, (program, arguments) in programs.items()}
    rows: list[Row] = []
    for name, taken in fresh_process.samples(words, runs, environment=toolchain.child_environment()).items():
        loops = [stages.pop("launches", 0.0) / max(1, launches) for stages in taken]
        taken.sort(key=lambda stages: sum(stages.values()))
        row = {"program": name, "state": "warm", "clock": "host", "stages": taken[runs // 2]}
        row["seconds"] = summary([sum(stages.values()) for stages in taken])
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


def _table(rows: Sequence[Row]) -> Table:
    names = dict.fromkeys(name for row in rows for name in row["stages"])
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
