"""The model against what it has not seen: fresh processes that launch many times after their first result."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fourways import lesson, timing, toolchain
from fourways.choosing.model import Cost, total
from fourways.tables import Row, Table, seconds, summary

STARTS = 3
"""Fresh processes for a start; an odd number, so that the stages of the median run add up to the median."""


class Trial(NamedTuple):
    """A process to be predicted: `launches` after the first, on arrays of `size` elements.

    `kernel` is how many seconds the GPU works on such a launch, by way; without it the launch is the bound.
    """

    launches: int
    size: int = 16
    kernel: Mapping[str, float] = {}


def measured_cost(name: str, way: str, launches: int = 1000) -> Cost:
    """What a way of lesson `name` costs on this machine, from fresh processes that find everything built.

    Its `launch` is the median over the processes of so many launches, each of 16 elements. Of the host way, whose calls
    last as long as their kernels, that is both. `cold` and `edit` are not measured.
    Raises what `timing.first_result` raises.
    """
    found = lesson.find(name)
    timing.first_result(found, way, {})  # fills the caches
    runs = [timing.first_result(found, way, {}, launches=launches) for _ in range(STARTS)]
    launch = summary([stages.pop("launches") / launches for stages in runs])["median"]
    for stages in runs:
        del stages["inputs"]
    runs.sort(key=lambda stages: sum(stages.values()))
    spread = summary([sum(stages.values()) for stages in runs])
    return Cost(way, runs[STARTS // 2], spread["p10"], spread["p90"], launch, origin="this machine")


def held_out(name: str, costs: Mapping[str, Cost], trials: Sequence[Trial]) -> Table:
    """Predict each trial for each way of lesson `name` that can run here, then measure it in one fresh process.

    `seconds` is what was measured, without the stage `inputs`; `model_seconds` what the model says; `error` how far
    that lies above (or, negative, below) the measurement, as a part of it.
    Raises what `timing.first_result` raises.
    """
    found = lesson.find(name)
    rows: list[Row] = []
    for trial in trials:
        for way, cost in costs.items():
            if toolchain.missing(way):
                continue
            stages = timing.first_result(found, way, {}, size=trial.size, launches=trial.launches)
            measured = sum(length for stage, length in stages.items() if stage != "inputs")
            modelled = total(cost, trial.launches, trial.kernel.get(way, 0.0))
            row = {"way": way, "size": trial.size, "launches": trial.launches, "clock": "host", "seconds": measured}
            rows.append(row | {"model_seconds": modelled, "error": modelled / measured - 1})
    columns = [
        ("way", lambda row: row["way"]),
        ("elements", lambda row: f"{row['size']:,}"),
        ("launches", lambda row: f"{row['launches']:,}"),
        ("measured", lambda row: seconds(row["seconds"])),
        ("model", lambda row: seconds(row["model_seconds"])),
        ("error", lambda row: f"{row['error']:+.1%}"),
    ]
    worst = [f"{way} {max(abs(row['error']) for row in rows if row['way'] == way):.1%}" for way in _ways(rows)]
    return Table("held_out", rows, columns, f"Host clock; a fresh process a row. Largest error: {', '.join(worst)}.")


def _ways(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["way"] for row in rows))
