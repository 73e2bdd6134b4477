"""The time from process start to the first right answer, by stages; every sample is a fresh process."""

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from fourways import figures, lesson, process, toolchain
from fourways.case import Case
from fourways.stages import STAGES
from fourways.tables import Row, Table, seconds, summary
from fourways.ways import WAYS, Task, missing

STATES = ("cold", "warm")
SAMPLES = 3
"""Fresh processes for each way and state; an odd number, so that the stages of the median run add up to the median."""
SIZE = 16
"""Elements: so few that a kernel takes no time. A case without such a size takes its smallest."""
LAUNCHES = 500
"""The most further launches in each of these processes: the cost of a launch differs from process to process."""
_PATIENCE = 0.2  # seconds for them: slow launches get fewer, as in lesson 00, where each compiles


class FirstResultError(RuntimeError):
    """A fresh process failed or gave a wrong answer; the message holds its own words.

    `others` holds the measurements of the ways that did not fail, if any.
    """

    others: Table | None = None


def first_result(
    target: lesson.Lesson | Case,
    way: str,
    variables: dict[str, str],
    binding: Path | None = None,
    size: int = SIZE,
    launches: int = 0,
) -> dict[str, float]:
    """Run one fresh process and return the seconds of each stage, up to the moment when the GPU is done.

    `variables` are environment variables of that process; `binding` is a folder whose `fourways_aot` is imported in
    place of the installed one; `size` is in elements. With `launches`, a last stage of that name holds as many more,
    queued one after another and waited for together. Outputs are restored before that series and judged after it.
    Raises FirstResultError if the process fails or its answer is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        told = lesson.task(target, way, size, Path(folder), binding)
        return _stages(told | {"launches": launches}, variables, target.path.parent)


def _stages(told: Task, variables: dict[str, str], folder: Path) -> dict[str, float]:
    """The seconds of each stage of a fresh process that does what it is told, with `folder` as its current one."""
    program = Path(__file__).with_name("first_result_process.py")
    ended = process.run(program, told, toolchain.child_environment() | variables, folder, timeout=600)
    way, answer = told["way"], ended.answer
    if ended.status or not answer:
        raise FirstResultError(f"{way}: a fresh process failed:\n{ended.words}")
    if answer["problem"]:
        raise FirstResultError(f"{way}: {answer['problem']}")
    return answer["stages"]


def first_results(name: str | lesson.Lesson | Case, ways: Sequence[str] = ()) -> Table:
    """The first results of lesson `name`, or of a case, by each of `ways` (default: all) that can run here.

    Two rows for each way: `cold` (empty caches, nothing built) and `warm` (caches filled by the run before). Each has
    `stages`, the seconds of each stage in the median run, and `seconds`, median, p10 and p90 of the whole.
    `launch_seconds` are those of a further launch that does not wait for the one before.
    The ways take turns, so that a machine that slows down slows all of them. A module is built ahead of time once, and
    those seconds are part of each of its cold runs. Files are in the operating system's cache in both states: a machine
    that has just booted is slower.
    Raises FirstResultError as `first_result` does, and after the other ways for a module that cannot be built.
    """
    target = lesson.find(name) if isinstance(name, str) else name
    is_case = isinstance(target, Case)
    own = WAYS if isinstance(target, Case) else [way for way in WAYS if target.cells(f"way-{way}")]
    here = [way for way in ways or WAYS if way in own and not missing(way, is_case)]
    size = target.probe if isinstance(target, Case) and target.sizes else SIZE
    with tempfile.TemporaryDirectory(prefix="fourways-") as base:
        built = [_built(target, way, Path(base, f"built_{way}")) for way in here]
        with ThreadPoolExecutor() as pool:  # nothing is timed here
            tried = list(pool.map(lambda each: _tried(target, each, size), built))
        ready = [each for each in tried if isinstance(each, _Ready)]
        samples: dict[tuple[str, str], list[dict[str, float]]]
        samples = {(each.way, state): [] for each in ready for state in STATES}
        for number in range(SAMPLES):
            for each in ready:
                caches = toolchain.cold_caches(Path(base, each.way, str(number)))
                for state in STATES:
                    stages = first_result(target, each.way, caches, each.module, size, each.launches)
                    stages["launches"] /= each.launches
                    stages["build"] += each.build_seconds if state == "cold" else 0.0
                    samples[each.way, state].append(stages)
    table = first_result_table([_row(way, state, stages) for (way, state), stages in samples.items()])
    for failure in tried:
        if isinstance(failure, FirstResultError):
            failure.others = table if table.rows else None
            raise failure
    return table


class _Ready(NamedTuple):
    """A way that can be sampled: its module and the seconds of its build, if any, and the launches of a series."""

    way: str
    module: Path | None = None
    build_seconds: float = 0.0
    launches: int = 0


def _built(target: lesson.Lesson | Case, way: str, folder: Path) -> _Ready | FirstResultError:
    """Build what the way builds ahead of time."""
    kernel = target if isinstance(target, Case) else str(target.meta["kernel"])
    try:
        took = WAYS[way].build_ahead(kernel, folder)
    except RuntimeError as error:  # the compiler's words
        return FirstResultError(f"{way}: {error}")
    return _Ready(way) if took is None else _Ready(way, folder, took)


def _tried(target: lesson.Lesson | Case, built: _Ready | FirstResultError, size: int) -> _Ready | FirstResultError:
    """Run a way once: its libraries come into the operating system's cache of files, and its launch has a length."""
    if isinstance(built, FirstResultError):
        return built
    try:
        launch = first_result(target, built.way, {}, built.module, size)["launch"]
    except FirstResultError as error:
        return error
    return built._replace(launches=max(1, min(LAUNCHES, int(_PATIENCE / launch))))


def _row(way: str, state: str, samples: list[dict[str, float]]) -> Row:
    launches = summary([stages.pop("launches") for stages in samples])
    samples.sort(key=lambda stages: sum(stages.values()))
    totals = summary([sum(stages.values()) for stages in samples])
    median = samples[len(samples) // 2]
    row = {"way": way, "state": state, "clock": "host", "stages": median, "seconds": totals}
    return row | {"launch_seconds": launches}


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
