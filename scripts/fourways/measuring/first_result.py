"""The time from process start to the first right answer, by stages; every sample is a fresh process."""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from fourways import building, figures, fresh_process, lesson, toolchain
from fourways.measuring.clocks import rounds, turns
from fourways.tables import Column, Row, Table, seconds, seconds_range, summary
from fourways.ways import WAYS, missing

STAGES = ("start", "import", "context", "inputs", "build", "load", "launch")
"""The stages of a first result, in the order of tables. `load` is the import of a module built ahead of time."""
STATES = {"cold": "nothing compiled yet", "warm": "compiled before"}
WARM = 21
"""Processes for each way that find everything built; odd, so that one of them is the median."""
COLD_SECONDS = 60
"""Rounds of processes that find nothing built begin until this time has passed."""
ALONE = 3
"""The processes of a way that is compared with no other; its cold ones are one."""
SIZE = 16
"""Elements: so few that a kernel takes no time."""
SHARED = ("start", "context", "inputs")
"""The stages that do not depend on the way."""
_OWN_STAGES = [stage for stage in STAGES if stage not in SHARED]
NO_DIFFERENCE = "no difference"


class FirstResultError(RuntimeError):
    """A fresh process failed or gave a wrong answer; the message holds its own words.

    `others` holds the measurements of the ways that did not fail, if any.
    """

    others: Table | None = None


def first_result(
    target: lesson.Lesson,
    way: str,
    variables: dict[str, str],
    binding: Path | None = None,
    size: int = SIZE,
    launches: int = 0,
    reads: bool = False,
) -> dict[str, float]:
    """Run one fresh process and return the seconds of each stage, up to the moment when the GPU is done.

    `variables` are environment variables of that process; `binding` is a folder whose `fourways_aot` is imported in
    place of the installed one; `size` is in elements. With `launches`, a last stage of that name holds as many more,
    queued one after another and waited for together. Outputs are restored before that series and judged after it.
    Raises FirstResultError if the process fails or its answer is wrong.
    """
    asked: dict[str, Any] = {"binding": binding, "launches": launches, "reads": reads}
    program = lesson.program(target, way, size, **asked)
    environment = toolchain.child_environment() | variables
    try:
        ended = fresh_process.start(program, environment=environment, folder=target.path.parent)
    except fresh_process.ProgramError as error:
        raise FirstResultError(f"{way}: {error}") from None
    if ended.status:
        raise FirstResultError(f"{way}: {ended.why}")
    wanted = [*STAGES, *(["launches"] if launches else [])]
    return {stage: ended.stages.get(stage, 0.0) for stage in wanted}


def first_results(
    name: str | lesson.Lesson,
    ways: Sequence[str] = (),
    warm: int | None = None,
    cold_seconds: float | None = None,
    tell: Callable[[str], Any] = lambda _: None,
) -> Table:
    """The first results of lesson `name` by each of `ways` (default: all) that can run here.

    Two rows for each way: `warm` (caches filled) of `warm` processes, and `cold` (empty caches, nothing built) of as
    many rounds as begin within `cold_seconds`, one at least. By default, these are WARM and COLD_SECONDS while a lesson
    is recorded, and about a third of them elsewhere (`measuring.rounds`). Each row has `stages`, the seconds of each
    stage in the median process; `seconds`, the median, p10 and p90 of the whole; and `own_seconds`, the same without
    SHARED stages.
    `verdict` says whether a way's own seconds differ from the fastest way's by more than their p10–p90 ranges.
    The ways take turns in a rotating order. What is built ahead of time is built once, and those seconds are part of
    each of its cold samples. Files are in the operating system's cache in both states: a machine that has just booted
    is slower. `tell` hears what is being measured.
    Raises FirstResultError as `first_result` does, and where a module cannot be built, when the other ways are done.
    """
    target = lesson.find(name) if isinstance(name, str) else name
    here = [way for way in ways or WAYS if target.cells(f"way-{way}") and not missing(way)]
    warm = rounds(WARM) if warm is None else warm
    cold_seconds = rounds(COLD_SECONDS) if cold_seconds is None else cold_seconds
    if len(here) < 2:
        warm, cold_seconds = min(warm, ALONE), 0.0
    with tempfile.TemporaryDirectory(prefix="fourways-") as base:
        filled = {way: toolchain.cold_caches(Path(base, way, "filled")) for way in here}
        built = [_built(target, way, Path(base, f"built_{way}")) for way in here]
        with ThreadPoolExecutor() as pool:  # nothing is timed here
            tried = list(pool.map(lambda each: _tried(target, each, filled), built))
        ready = [each for each in tried if isinstance(each, _Ready)]
        samples = {(each.way, state): list[dict[str, float]]() for each in ready for state in STATES}
        for number, each in enumerate(turns(warm, ready)):
            tell(f"{each.way}, warm, process {number // len(ready) + 1} of {warm}")
            samples[each.way, "warm"].append(first_result(target, each.way, filled[each.way], each.module))
        begin, last = time.monotonic(), len(ready)
        for number, each in enumerate(turns(sys.maxsize, ready) if ready else ()):
            if number % last == 0 and number and time.monotonic() - begin > cold_seconds:
                break
            tell(f"{each.way}, cold, process {number // last + 1}")
            empty = toolchain.cold_caches(Path(base, each.way, str(number)))
            stages = first_result(target, each.way, empty, each.module)
            stages["build"] += each.build_seconds
            samples[each.way, "cold"].append(stages)
    rows = [_row(way, state, stages) for (way, state), stages in samples.items()]
    table = first_result_table(_judged(rows))
    for failure in tried:
        if isinstance(failure, FirstResultError):
            failure.others = table if table.rows else None
            raise failure
    return table


class _Ready(NamedTuple):
    """A way that can be sampled: its module and the seconds of its build, if any."""

    way: str
    module: Path | None = None
    build_seconds: float = 0.0


def _built(target: lesson.Lesson, way: str, folder: Path) -> _Ready | FirstResultError:
    """Build what the way builds ahead of time."""
    kernel = str(target.meta["kernel"])
    try:
        took = building.build_binding(kernel, folder) if WAYS[way].is_shipped_built else None
    except RuntimeError as error:  # the compiler's words
        return FirstResultError(f"{way}: {error}")
    return _Ready(way) if took is None else _Ready(way, folder, took)


def _tried(
    target: lesson.Lesson, built: _Ready | FirstResultError, filled: Mapping[str, dict[str, str]]
) -> _Ready | FirstResultError:
    """Run a way once, which fills its caches and the operating system's."""
    if isinstance(built, FirstResultError):
        return built
    try:
        first_result(target, built.way, filled[built.way], built.module)
    except FirstResultError as error:
        return error
    return built


def _own(stages: Mapping[str, float]) -> float:
    return sum(length for stage, length in stages.items() if stage not in SHARED)


def _row(way: str, state: str, samples: list[dict[str, float]]) -> Row:
    median = sorted(samples, key=_own)[len(samples) // 2]
    row = {"way": way, "state": state, "clock": "host", "stages": median}
    row["seconds"] = summary([sum(stages.values()) for stages in samples])
    return row | {"own_seconds": summary([_own(stages) for stages in samples])}


def _judged(rows: Sequence[Row]) -> list[Row]:
    """Add to each row how its way compares with the fastest of the same state."""
    judged = []
    for row in rows:
        own = row["own_seconds"]
        best = min((each["own_seconds"] for each in rows if each["state"] == row["state"]), key=lambda it: it["median"])
        slower = f"+ {seconds(own['median'] - best['median'])}"
        judged.append(row | {"verdict": NO_DIFFERENCE if own["p10"] <= best["p90"] else slower})
    return judged


def first_result_table(rows: Sequence[Row]) -> Table:
    """Show the rows of `first_results`; the note has the stages that all ways share."""
    columns: list[Column] = [
        "way",
        ("caches", "state"),
        *((name, lambda row, name=name: seconds(row["stages"][name])) for name in _OWN_STAGES),
        ("sum", "own_seconds"),
        ("p10 – p90", lambda row: seconds_range(row["own_seconds"]["p10"], row["own_seconds"]["p90"])),
        ("against the fastest", "verdict"),
    ]
    return Table("first_result", rows, columns, _note(rows) if rows else "")


def _note(rows: Sequence[Row]) -> str:
    counts = {row["state"]: f"{row['own_seconds']['samples']} {row['state']}" for row in rows}
    warm = [row for row in rows if row["state"] == "warm"]
    shared = [f"{stage} {seconds(statistics.median(row['stages'][stage] for row in warm))}" for stage in SHARED]
    processes = f"Host clock; medians of {' and '.join(counts.values())} fresh processes."
    return f"{processes} All ways take in addition: {', '.join(shared)}."


def first_result_figure(rows: Sequence[Row], kernel: str) -> Any:
    """Draw the stages of every way's median process that depend on the way, with the p10–p90 range of their sum.

    The title of a panel is its conclusion: which ways do not differ from the fastest, and by how much the others do.
    """
    panels: dict[str, dict[str, dict[str, float]]] = {}
    ranges: dict[str, dict[str, tuple[float, float]]] = {}
    for state, meaning in STATES.items():
        of_state = [row for row in rows if row["state"] == state]
        title = f"{state}, {meaning}:\n{_conclusion(of_state)}"
        panels[title] = {row["way"]: {stage: row["stages"][stage] for stage in _OWN_STAGES} for row in of_state}
        ranges[title] = {row["way"]: (row["own_seconds"]["p10"], row["own_seconds"]["p90"]) for row in of_state}
    label = "seconds besides interpreter, context and inputs (host clock)"
    return figures.stacked_bars(panels, label, f"The first result of {kernel}", ranges=ranges)


def _conclusion(rows: Sequence[Row]) -> str:
    near = [row["way"] for row in rows if row["verdict"] == NO_DIFFERENCE]
    far = [row for row in rows if row["way"] not in near]
    slower = [f"{row['way']} {row['verdict']}" for row in sorted(far, key=lambda row: row["own_seconds"]["median"])]
    first = f"{near[0]} first" if len(near) == 1 else f"{NO_DIFFERENCE} between {', '.join(near)}"
    return "; ".join([first, *slower])
