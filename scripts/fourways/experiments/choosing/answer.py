"""The answer to "which way?": the seconds of each way for a program, the best way first."""

import math
from collections.abc import Mapping, Sequence

from fourways.experiments.choosing.model import Cost
from fourways.experiments.choosing.situation import CUBIN
from fourways.tables import Column, Row, Table, seconds, seconds_range


def choose(
    costs: Mapping[str, Cost],
    kernel: float,
    launches: int,
    runs: int = 1,
    cold_runs: int = 0,
    edits: int = 0,
    nodes: int = 1,
) -> Table:
    """Compare ways for `runs` runs of a program that launches a kernel `launches` times after its first result.

    Returns a row for each way, the least total first. `kernel` is the GPU's seconds for a launch. `cold_runs` of the
    runs find nothing built. `edits` is how often the kernel is changed and built again. Each run is done by `nodes`
    machines at the same time, and the total is that of all. `low_seconds` and `high_seconds` are the total with the
    10th and the 90th percentiles of the start and of a launch. A way whose low end reaches the high end of the fastest
    one's makes "no difference" to it. Raises ValueError for impossible numbers, and for a total that no float
    holds.
    """
    if kernel <= 0 or launches < 0 or runs < 1 or edits < 0 or nodes < 1:
        raise ValueError(
            "expected a kernel of more than 0 s, at least one run and node, and no negative number of launches or edits"
        )
    if not 0 <= cold_runs <= runs:
        raise ValueError(f"of {runs} runs, {cold_runs} cannot be cold")
    if not costs:
        raise ValueError("no way to choose from")
    asked = {"kernel_seconds": kernel, "launches": launches, "runs": runs, "cold_runs": cold_runs, "edits": edits}
    asked["nodes"] = nodes
    rows: list[Row] = []
    try:
        for cost in costs.values():
            rows.append({"way": cost.name, "clock": "host"} | asked | _answer(cost, asked))
        held = all(math.isfinite(value) for row in rows for value in row.values() if isinstance(value, int | float))
    except OverflowError:  # an int too large for a float
        held = False
    if not held:
        raise ValueError("the total is more seconds than a number can hold")
    rows.sort(key=lambda row: row["total_seconds"])
    best = rows[0]
    near = [row for row in rows if row["low_seconds"] <= best["high_seconds"]]
    for row in rows:
        times = row["total_seconds"] / best["total_seconds"]
        row["verdict"] = f"× {times:.2f}" if row not in near else "no difference" if len(near) > 1 else "fastest"
    return Table("choose", rows, _COLUMNS, _note(rows))


def _answer(cost: Cost, asked: Row) -> Row:
    runs, once = asked["nodes"] * asked["runs"], cost.total(asked["launches"], asked["kernel_seconds"])
    low, high = cost.spread(asked["launches"], asked["kernel_seconds"])
    more = asked["nodes"] * asked["cold_runs"] * cost.cold + asked["edits"] * cost.edit
    return {
        "start_seconds": cost.start,
        "launch_seconds": cost.launch,
        "cold_seconds": cost.cold,
        "edit_seconds": cost.edit,
        "run_seconds": once,
        "total_seconds": runs * once + more,
        "low_seconds": runs * low + more,
        "high_seconds": runs * high + more,
        "origin": cost.origin,
    }


def _launch(row: Row) -> str:
    """Return the longer of launch and kernel, and whether the host or the GPU is busy with it."""
    host = row["launch_seconds"] > row["kernel_seconds"]
    return f"{seconds(max(row['launch_seconds'], row['kernel_seconds']))} {'host' if host else 'GPU'}"


def _note(rows: Sequence[Row]) -> str:
    asked, origins = rows[0], dict.fromkeys(row["origin"] for row in rows)
    nodes = f"; machines: {asked['nodes']:,}" if asked.get("nodes", 1) > 1 else ""
    computed = f" {CUBIN}: not timed, but computed without the build." if CUBIN in {row["way"] for row in rows} else ""
    return (
        f"Runs: {asked['runs']:,}, {asked['cold_runs']:,} of them cold; launches in each: {asked['launches']:,}; "
        f"edits: {asked['edits']:,}{nodes}. Measured on {'; '.join(origins)}.{computed}"
    )


_COLUMNS: list[Column] = [
    "way",
    "start_seconds",
    ("a launch", _launch),
    ("a run", "run_seconds"),
    ("cold: more", "cold_seconds"),
    ("an edit", "edit_seconds"),
    ("all", "total_seconds"),
    ("p10 – p90", lambda row: seconds_range(row["low_seconds"], row["high_seconds"])),
    "verdict",
]
