"""The model tested on programs that it has not seen: fresh processes that launch many times."""

import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fourways import lesson, measuring
from fourways.experiments.choosing import Cost
from fourways.experiments.first_result import first_result
from fourways.tables import Column, Row, Table, seconds_range, summary
from fourways.ways import missing

_RUNS = 3  # fresh processes for each program and way in a recording
_TARGET = 0.15  # the largest relative error that the model should have


class Program(NamedTuple):
    """A program to predict: `launches` after its first result, on arrays of `size` elements.

    `kernel` is the GPU's seconds for a launch, `read` the host's for reading one element of a result back; 0: nothing
    is read before the end.
    """

    name: str
    launches: int
    size: int = 16
    kernel: float = 0.0
    read: float = 0.0

    def predicted(self, cost: Cost) -> float:
        """Return the model's seconds. Who reads a result waits for it: then host and GPU add up."""
        each = cost.launch + self.kernel + self.read if self.read else max(cost.launch, self.kernel)
        return cost.start + self.launches * each


def held_out(
    name: str, recordings: Mapping[str, Mapping[str, Cost]], programs: Sequence[Program], runs: int | None = None
) -> Table:
    """Predict each program for each way of lesson `name` that can run here, and measure it in `runs` fresh processes.

    By default, there are three processes while a lesson is recorded, and one elsewhere.
    The predictions use `recordings` alone, costs by way for each recording. A way that some recording lacks is left
    out, and the note names it. The processes take turns. A row holds
    `seconds`, the median of the processes without their stage `inputs`, with `low_seconds` and `high_seconds`, their
    10th and 90th percentiles; and for each recording `predicted` and `errors`, the relative differences from
    `seconds`, positive if the prediction is too high. Raises ValueError for no program or no run, and what
    `first_result` raises.
    """
    runs = measuring.rounds(_RUNS) if runs is None else runs
    if not programs or not recordings or runs < 1:
        raise ValueError("expected at least one program, one recording and one run")
    target, known = lesson.find(name), {way: None for costs in recordings.values() for way in costs}
    ways = [way for way in known if all(way in costs for costs in recordings.values())]
    pairs = [(program, way) for program in programs for way in ways if not missing(way)]
    totals: dict[tuple[Program, str], list[float]] = {pair: [] for pair in pairs}
    for program, way in measuring.turns(runs, pairs):
        asked = {"launches": program.launches, "reads": bool(program.read)}
        stages = first_result(way, lesson.program(target, way, program.size, **asked))
        totals[program, way].append(sum(length for stage, length in stages.items() if stage != "inputs"))
    rows: list[Row] = []
    for (program, way), samples in totals.items():
        measured = summary(samples)
        predicted = {recording: program.predicted(costs[way]) for recording, costs in recordings.items()}
        row = {"program": program.name, "way": way, "launches": program.launches, "size": program.size, "clock": "host"}
        row |= {"seconds": measured["median"], "low_seconds": measured["p10"], "high_seconds": measured["p90"]}
        errors = {recording: value / measured["median"] - 1 for recording, value in predicted.items()}
        rows.append(row | {"predicted": predicted, "errors": errors})
    columns: list[Column] = [
        "program",
        "way",
        ("measured", "seconds"),
        ("p10 – p90", lambda row: seconds_range(row["low_seconds"], row["high_seconds"])),
        *(
            (f"error, {recording}", lambda row, recording=recording: f"{row['errors'][recording]:+.1%}")
            for recording in recordings
        ),
    ]
    said = [f"Host clock; medians of {runs} fresh processes."]
    said += [_verdict(rows, recording) for recording in recordings] if rows else []
    lacking = [way for way in known if way not in ways]
    said += [f"Not in every recording: {', '.join(lacking)}."] if lacking else []
    return Table("held_out", rows, columns, " ".join(said))


def _verdict(rows: Sequence[Row], recording: str) -> str:
    """Return the range of the errors, their mean, and how many miss the target."""
    errors = [row["errors"][recording] for row in rows]
    missed = sum(abs(error) > _TARGET for error in errors)
    bias = f"on average {statistics.mean(errors):+.1%}; {missed} of {len(errors)} beyond {_TARGET:.0%}"
    return f"{recording}: errors from {min(errors):+.1%} to {max(errors):+.1%}, {bias}."
