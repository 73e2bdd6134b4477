"""Each way as a separate program: its first result, its launches, and its answers to wrong arrays."""

import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fourways import lesson, process, toolchain
from fourways.measuring import FirstResultError
from fourways.tables import Column, Row, Table, summary
from fourways.ways import WAYS


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
    task = {"source": source, "function": function}
    try:
        ended = process.run(Path(__file__).with_name("way_programs_process.py"), task, variables, timeout=patience)
    except subprocess.TimeoutExpired as error:
        raise FirstResultError(f"not done after {patience} s") from error
    answer = ended.answer
    if not answer:
        exceptions = re.findall(r"^[\w.]+: .+", ended.words, re.MULTILINE)  # a traceback's last line, a message's first
        raise FirstResultError((exceptions or ended.words.splitlines() or [_end(ended.status)])[-1])
    for name, became in answer["mistakes"].items():
        if became == "crash":
            answer["mistakes"][name] = f"crash: {_end(ended.status)}"
    return answer


def _end(status: int) -> str:
    """Return `status 1`, or the name of the signal that ended the process."""
    return signal.Signals(-status).name if status < 0 else f"status {status}"


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
