"""The stencil's plate on the GPUs of one machine: a process per GPU, halos by NCCL; checked, then measured."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from fourways import building, figures, kernels, tables, toolchain
from fourways.experiments.cluster.peers_process import peer_work
from fourways.experiments.cluster.ranks import RanksError, run_ranks
from fourways.experiments.cluster.strips import ROUND
from fourways.experiments.cluster.strips_process import CHECK, HOW, first_plate, join_or_stay_away, rank_work

PEERS = "peer copies, one process"


def scale_plates(steps: dict[int, int], counts: list[int] | None = None, limit: float = 90) -> dict[str, tables.Table]:
    """Time steps of the stencil on several GPUs, and return the table `scaling`, by its name.

    `steps[side]` is the number of steps, a multiple of ROUND, that are timed together on a square plate of that side.
    `counts` are the numbers of GPUs, by default 1, 2 and 4 as far as they exist.
    A row of `scaling` has `gpus`, `side`, `how`, the `seconds` per step of the slowest rank (host clock), and `speedup`
    over the fastest row of one GPU.
    First the strips of a smaller plate must agree with NumPy bit by bit. If they do not, if a rank fails or if not all
    ranks are done after `limit` seconds, there is no row, and the note of `scaling` says why.
    Raises RuntimeError, with the remedy, without a GPU, or without nccl4py for more than one; ValueError for more GPUs
    than there are.
    """
    gpus = toolchain.gpus()
    counts = counts or [count for count in (1, 2, 4) if count <= max(1, len(gpus))]
    if reason := toolchain.missing("gpu") or (toolchain.missing("nccl") if max(counts) > 1 else None):
        raise RuntimeError(reason)
    if odd := [number for number in steps.values() if number < 1 or number % ROUND]:
        raise ValueError(f"steps are taken {ROUND} at a time; got {odd[0]}")
    if max(counts) > len(gpus) or counts[0] != 1:
        raise ValueError(f"expected numbers of GPUs from 1 to {len(gpus)}, beginning with 1; got {counts}")
    rows: list[tables.Row] = []
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="fourways-", ignore_cleanup_errors=True) as folder:
        cubin = Path(folder, "stencil.cubin")
        cubin.write_bytes(building.build(kernels.path("stencil"), "nvrtc", gpus[0].arch).code)
        for count in counts:
            parts = {"ranks": _by_ranks} | ({"peer copies": _by_one_process} if count > 1 else {})
            for what, measure in parts.items():
                try:
                    rows += measure(count, str(cubin), steps, limit)
                except (RanksError, ValueError) as problem:
                    problems.append(f" No times by {what}, GPUs: {count}: {problem}.")
    return {"scaling": scaling_table(rows, "".join(problems))}


def _by_ranks(count: int, cubin: str, steps: dict[int, int], limit: float) -> list[tables.Row]:
    ranks = run_ranks(rank_work, count, (count, cubin, steps), limit)
    for how in HOW:
        check_strips([rank["rows"][how] for rank in ranks], how)
    slowest = {(how, side): max(rank["seconds"][side][how] for rank in ranks) for how in HOW for side in steps}
    return [_row(count, side, how, seconds) for (how, side), seconds in slowest.items()]


def _by_one_process(count: int, cubin: str, steps: dict[int, int], limit: float) -> list[tables.Row]:
    (peers,) = run_ranks(peer_work, 1, (count, cubin, steps), limit)
    check_strips(peers["rows"], PEERS)
    return [_row(count, side, PEERS, seconds) for side, seconds in peers["seconds"].items()]


def _row(count: int, side: int, how: str, seconds: float) -> tables.Row:
    return {"gpus": count, "side": side, "how": how, "clock": "host", "seconds": seconds}


def stepped(u: np.ndarray) -> np.ndarray:
    """Return a plate (float32, two dimensions) after a step of the stencil, by NumPy."""
    v = u.copy()
    v[1:-1, 1:-1] = np.float32(0.25) * ((u[:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, :-2] + u[1:-1, 2:]))
    return v


def check_strips(parts: list[np.ndarray], what: str) -> None:
    """Raise ValueError if the strips, joined, differ from NumPy's plate of CHECK after its steps."""
    height, width, steps = CHECK
    u = first_plate(height, width)
    for _ in range(steps):
        u = stepped(u)
    wrong = np.flatnonzero((np.concatenate(parts) != u).any(axis=1))
    if wrong.size:
        raise ValueError(f"{what}: row {wrong[0]} of {height} is wrong after {steps} steps, {wrong.size} rows in all")


def scaling_table(rows: list[tables.Row], problems: str = "") -> tables.Table:
    """Show rows of `scale_plates`, each with its speed-up over one GPU on the same plate.

    One GPU exchanges nothing, so only its fastest row of each plate is kept. Without rows of one GPU the table is
    empty.
    """
    slowest_first = sorted(rows, key=lambda row: row["seconds"], reverse=True)
    alone = {row["side"]: row for row in slowest_first if row["gpus"] == 1}
    rows = [*alone.values(), *(row for row in rows if row["gpus"] > 1)] if alone else []
    rows = [row | {"speedup": alone[row["side"]]["seconds"] / row["seconds"]} for row in rows]
    rows.sort(key=lambda row: (row["side"], row["gpus"]))
    columns: list[tables.Column] = [
        ("plate", lambda row: f"{row['side']}²"),
        ("GPUs", "gpus"),
        ("halos", "how"),
        ("a step", "seconds"),
        ("times one GPU", lambda row: f"{row['speedup']:.2f}"),
    ]
    return tables.Table("scaling", rows, columns, f"Host clock, the slowest rank; the median of five runs.{problems}")


def scaling_figure(table: tables.Table) -> Any:
    """Draw the speed-up on the largest plate beside the ideal one, for each number of GPUs.

    Returns None if the table has one GPU only.
    """
    side = max((row["side"] for row in table.rows), default=0)
    panels: dict[str, dict[str, float]] = {}
    for row in table.rows:
        if row["side"] == side and row["gpus"] > 1:
            ideal = {"ideal": float(row["gpus"])}
            panels.setdefault(f"{row['gpus']} GPUs", ideal)[row["how"]] = row["speedup"]
    if not panels:
        return None
    title = f"A plate of {side}²: times as fast as one GPU"
    return figures.bars(panels, lambda times: f"{times:.2f}", {"ideal": "#CCCCCC"}, title)


def join_without(absent: int, limit: float) -> None:
    """Start two ranks on one GPU. Rank `absent` never joins, so RanksError is raised after `limit` seconds."""
    run_ranks(join_or_stay_away, 2, (2, absent), limit)
