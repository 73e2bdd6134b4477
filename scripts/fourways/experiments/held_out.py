"""The cost model tested on unseen data: fresh processes that launch many times after their first result."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fourways import lesson, timing
from fourways.choosing import Cost, total
from fourways.tables import Row, Table, seconds, seconds_range
from fourways.ways import missing

_TARGET = 0.15  # the largest relative error that the model should have


class Trial(NamedTuple):
    """A process to predict: `launches` after the first, on arrays of `size` elements.

    `kernel` is the GPU's seconds for such a launch, by way. For a way without it, the host's launch is the bound.
    """

    launches: int
    size: int = 16
    kernel: Mapping[str, float] = {}


def held_out(
    name: str, costs: Mapping[str, Cost], trials: Sequence[Trial], launch: Mapping[str, float], runs: int = 5
) -> Table:
    """Predict each trial for each way of lesson `name` that can run here, and measure it in `runs` fresh processes.

    All processes take turns. `seconds` is the time of a trial's fastest process, without the stage `inputs`, because
    disturbances only add time. `slowest_seconds` is that of the slowest.
    A row holds two predictions. `model_seconds` uses today's measurements: the fastest start in the other trials, and
    `launch`, the seconds of a launch by way. `recorded_seconds` uses `costs` alone. `error` and `recorded_error` are
    their relative differences from `seconds`, positive if the prediction is too high.
    Raises ValueError for fewer than two trials or no run, and what `timing.first_result` raises.
    """
    if len(trials) < 2 or runs < 1:
        raise ValueError("a trial's start comes from the other trials: expected at least two trials and one run")
    target = lesson.find(name)
    pairs = [(number, way) for number in range(len(trials)) for way in costs if not missing(way)]
    starts: dict[tuple[int, str], list[float]] = {pair: [] for pair in pairs}
    totals: dict[tuple[int, str], list[float]] = {pair: [] for pair in pairs}
    for number, way in timing.turns(runs, pairs):
        stages = timing.first_result(target, way, {}, size=trials[number].size, launches=trials[number].launches)
        start = sum(length for stage, length in stages.items() if stage not in ("inputs", "launches"))
        starts[number, way].append(start)
        totals[number, way].append(start + stages.get("launches", 0.0))
    rows: list[Row] = []
    for number, way in pairs:
        trial, measured = trials[number], min(totals[number, way])
        start = min(min(starts[other, way]) for other in range(len(trials)) if other != number)
        kernel, today = trial.kernel.get(way, 0.0), Cost(way, {"start": start}, start, start, launch[way])
        predicted, recorded = (total(cost, trial.launches, kernel) for cost in (today, costs[way]))
        row = {"way": way, "size": trial.size, "launches": trial.launches, "clock": "host"}
        row |= {"seconds": measured, "slowest_seconds": max(totals[number, way])}
        row |= {"recorded_seconds": recorded, "recorded_error": recorded / measured - 1}
        rows.append(row | {"model_seconds": predicted, "error": predicted / measured - 1})
    columns = [
        ("way", lambda row: row["way"]),
        ("elements", lambda row: f"{row['size']:,}"),
        ("launches", lambda row: f"{row['launches']:,}"),
        ("measured", lambda row: seconds_range(row["seconds"], row["slowest_seconds"])),
        ("recorded", lambda row: seconds(row["recorded_seconds"])),
        ("error", lambda row: f"{row['recorded_error']:+.1%}"),
        ("today", lambda row: seconds(row["model_seconds"])),
        ("error", lambda row: f"{row['error']:+.1%}"),
    ]
    return Table("held_out", rows, columns, f"Host clock; {runs} fresh processes a row. {_verdict(rows)}")


def _verdict(rows: Sequence[Row]) -> str:
    """Return for both predictions the largest error of each way, and the ways that miss the target."""
    said = []
    for name, column in (("recorded", "recorded_error"), ("today", "error")):
        worst: dict[str, float] = {}
        for row in rows:
            worst[row["way"]] = max(abs(row[column]), worst.get(row["way"], 0.0))
        largest = ", ".join(f"{way} {error:.1%}" for way, error in worst.items())
        missed = ", ".join(way for way, error in worst.items() if error > _TARGET)
        said.append(f"Largest errors, {name}: {largest}; beyond {_TARGET:.0%}: {missed or 'none'}.")
    return " ".join(said)
