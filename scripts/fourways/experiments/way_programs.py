"""Each way as a separate program: its first result, its launches, and its answers to wrong arrays."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fourways import fresh_process, lesson, toolchain
from fourways.experiments.first_result import FirstResultError
from fourways.tables import Column, Row, Table, summary
from fourways.ways import WAYS, program

_BATCHES, _CALLS = 5, 100
_PROGRAM = """\
# build
{cell}
# launch
import sys
import numpy

VALUES = [float(number) for number in range(1, 17)]
NOTHING = [float("nan")] * 16
torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")  # a program with CuPy gets CuPy's arrays


def array(values, dtype="float32", on_host=False):
    if torch and not cupy:
        return torch.tensor(values, dtype=getattr(torch, dtype), device="cpu" if on_host else "cuda")
    return (numpy if on_host or not cupy else cupy).array(values, dtype)


def wait():
    if cupy or torch:
        (cupy.cuda.Device() if cupy else torch.cuda).synchronize()


x, y = array(VALUES), array(NOTHING)
{function}(x, y)
wait()
# check
assert y.tolist() == [2 * value for value in VALUES], f"the first answer is wrong: {{y.tolist()}}"
# launches
import json
import os
import time

launches = []
for _ in range({batches}):
    begin = time.perf_counter()
    for _ in range({calls}):
        {function}(x, y)
    launches.append((time.perf_counter() - begin) / {calls})
    wait()
# mistakes
made = {{
    "x is float64": lambda: (array(VALUES, "float64"), array(NOTHING)),
    "y is float64": lambda: (array(VALUES), array(NOTHING, "float64")),
    "x has gaps": lambda: (array([value for value in VALUES for _ in range(2)])[::2], array(NOTHING)),
    "x on the host": lambda: (array(VALUES, on_host=True), array(NOTHING)),  # could end the process's context
}}
became = dict.fromkeys(made, "not tried")


def tell():
    print("\\n" + json.dumps({{"launches": launches, "mistakes": became}}), flush=True)


for name, make in made.items():
    try:
        x, y = make()
    except Exception:  # the call before has ended the context
        break
    became[name] = "crash"  # the last word where the call ends this process
    tell()
    try:
        {function}(x, y)
        wait()
        became[name] = "right" if y.tolist() == [2 * value for value in VALUES] else "wrong numbers"
    except Exception as error:
        became[name] = type(error).__name__
tell()
os._exit(0)  # destroying a context after a mistake could fail
"""


def run(name: str, ways: Sequence[str], folder: Path, times: int = 3, patience: float = 300) -> list[Row]:
    """Run each of `ways` of lesson `name` that can run here as a separate program, `times` times, in turns.

    The program is the cell tagged `way-…`, which has its own imports; for one of `WAYS`, the lesson's first cell tagged
    `setup` comes before it. It defines `<kernel>_<way>(x, y)`, which must double `x` into `y`. The arrays are CuPy's if
    the program has imported CuPy, else PyTorch's, else NumPy's. `folder` holds the modules built ahead of time.

    Returns a row for each way, with all seconds by the host's clock:

    - `seconds`: from process start to the first right answer; `stages` are those of the median run
    - `launch_seconds`: a call without a wait
    - `mistakes`: by name, the outcome of a call with a wrong array: an exception's name, "right", "wrong numbers", or
      "crash: SIGSEGV" if that signal ended the program; later mistakes are "not tried"

    If a program fails before that, gives a wrong first answer, or needs more than `patience` seconds, its row holds
    only `failed`, a line that says why.
    """
    target = lesson.find(name)
    cells = [cell for cell in target.notebook.cells if cell.cell_type == "code"]
    sources = {}
    for way in ways:
        (cell,) = (cell for cell in cells if f"way-{way}" in lesson.tags(cell))
        if not lesson.skip_reason(cell):
            before = target.cells("setup")[:1] if way in WAYS else []
            sources[way] = "\n".join([*before, cell.source])
    runs: dict[str, list[dict[str, Any]]] = {way: [] for way in sources}
    failed: dict[str, str] = {}
    for _ in range(times):
        for way, source in sources.items():
            if way not in failed:
                try:
                    runs[way].append(_program(source, f"{target.meta['kernel']}_{way}", folder, patience))
                except FirstResultError as error:
                    failed[way] = str(error)
    return [
        {"way": way, "failed": failed[way]} if way in failed else _row(way, samples) for way, samples in runs.items()
    ]


def _program(source: str, function: str, folder: Path, patience: float) -> dict[str, Any]:
    """Run one fresh process, and return its answer. Raises FirstResultError, with a line of its output, if it fails."""
    variables = toolchain.child_environment()
    variables["PYTHONPATH"] = f"{folder}{os.pathsep}{variables['PYTHONPATH']}"
    imports, cell = program.split(source)
    filled = _PROGRAM.format(cell=cell, function=function, batches=_BATCHES, calls=_CALLS)
    try:
        ended = fresh_process.start(f"# import\n{imports}\n{filled}", environment=variables, timeout=patience)
    except fresh_process.ProgramError as error:
        raise FirstResultError(str(error)) from error
    if not ended.answer:
        raise FirstResultError(ended.why)
    stages = {stage: ended.stages[stage] for stage in ("start", "import", "build", "launch")}
    became = {
        name: f"crash: {ended.why}" if word == "crash" else word for name, word in ended.answer["mistakes"].items()
    }
    return {"stages": stages, "launches": ended.answer["launches"], "mistakes": became}


def _row(way: str, samples: list[dict[str, Any]]) -> Row:
    samples.sort(key=lambda sample: sum(sample["stages"].values()))
    totals = summary([sum(sample["stages"].values()) for sample in samples])
    launches = summary([second for sample in samples for second in sample.pop("launches")])
    return {"way": way, "clock": "host", "seconds": totals, "launch_seconds": launches} | samples[len(samples) // 2]


def table(
    rows: Sequence[Row], built: Mapping[str, float | None], ships: Mapping[str, Path], uses: Mapping[str, str]
) -> Table:
    """Show the rows of `run`, each with its use; a failed way shows why it failed instead.

    `built` holds the seconds of builds ahead of time by way, None if unknown; these ways are marked AOT, the others
    JIT. `ships` holds the file that goes to users, and `uses` says what a way is for, by way.
    """
    rows = [
        row
        | {"when": "AOT" if row["way"] in built else "JIT"}
        | {"build_seconds": built.get(row["way"], row.get("stages", {}).get("build"))}
        | {"ships": ships[row["way"]].stat().st_size if row["way"] in ships else None}
        | {"use": f"failed: {row['failed']}" if "failed" in row else uses.get(row["way"], "")}
        for row in rows
    ]
    columns: list[Column] = [
        "way",
        "when",
        "build_seconds",
        ("first result", "seconds"),
        ("a launch", "launch_seconds"),
        ("ships, kB", lambda row: "" if row["ships"] is None else f"{row['ships'] / 1e3:,.1f}"),
        ("for", "use"),
    ]
    count = max((row["seconds"]["samples"] for row in rows if "failed" not in row), default=1)
    many = "one run each, in a fresh process" if count == 1 else f"the median of {count} fresh processes each"
    return Table("way_programs", rows, columns, f"Host clock; {many}, caches filled.")


def mistakes_table(rows: Sequence[Row]) -> Table:
    """Show the outcome of each call with a wrong array. Of a way whose program failed the note says why."""
    failed = [f"{row['way']} failed: {row['failed']}." for row in rows if "failed" in row]
    rows = [row for row in rows if "failed" not in row]
    names = list(rows[0]["mistakes"]) if rows else []
    mistakes = [(name, lambda row, name=name: row["mistakes"][name]) for name in names]
    shown = [{key: row[key] for key in ("way", "mistakes")} for row in rows]
    return Table("mistakes", shown, ["way", *mistakes], " ".join(failed))
