"""Plans by which N workers get a kernel, and their costs: each builds, one builds for all, or it was built before.

All plans run on the same workers, after their imports, and take turns. The workers count their own CPU seconds, those
of their children and of Dask included. The cost of asking for these numbers is measured once, and subtracted.
"""

import os
import secrets
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fourways import figures, tables, toolchain
from fourways.experiments.cluster import tasks
from fourways.experiments.cluster.workers import cpu_seconds, on_each

Plan = Callable[[], list[tasks.Parcel]]
BROADCAST = "one builds, broadcast"


def broadcast(client: Any, parcel: tasks.Parcel, arch: str) -> list[tasks.Parcel]:
    """Send a cubin to every worker, and return what each worker accepted for a GPU of `arch`.

    Raises ValueError if a worker refuses it.
    """
    return on_each(client, tasks.accept, parcel, arch)


def compare_plans(
    client: Any, path: Path, arch: str, nvcc: bool = False, rounds: int = 5, only: Sequence[str] = ()
) -> tables.Table:
    """Bring the kernel file `path` to all workers of `client` for `arch` by each plan in turn, and return a table.

    A row has `plan`, `workers`, `built` (the numbers of workers that called a compiler, a number for each round), and
    two summaries: `cpu_seconds` (of all workers together) and `seconds` (host clock, until the last worker has the
    kernel). `nvcc` adds plans with nvcc. If `fourways_aot` is installed, importing it is one more plan, which only the
    first round can measure. `only` names the plans to measure, if not all. Raises what a worker raises.
    """
    on_each(client, tasks.prepare)
    asking = statistics.median(_measured(client, list)["cpu_seconds"] for _ in range(rounds))
    samples: dict[str, list[dict[str, Any]]] = {}
    for number in range(rounds):
        for name, plan in _plans(client, path, arch, nvcc, imports=number == 0).items():
            if not only or name in only:
                samples.setdefault(name, []).append(_measured(client, plan))
    rows = [
        {
            "plan": name,
            "workers": measured[0]["workers"],
            "built": [each["built"] for each in measured],
            "clock": "host",
            "cpu_seconds": tables.summary([max(0.0, each["cpu_seconds"] - asking) for each in measured]),
            "seconds": tables.summary([each["seconds"] for each in measured]),
        }
        for name, measured in samples.items()
    ]
    columns: list[tables.Column] = [
        "plan",
        ("call a compiler", lambda row: _whole_range(row["built"])),
        ("CPU, all workers", "cpu_seconds"),
        ("p10 – p90", lambda row: _spread(row["cpu_seconds"])),
        ("until the last has it", "seconds"),
        ("p10 – p90", lambda row: _spread(row["seconds"])),
    ]
    note = f"{rows[0]['workers']} workers; host clock; the median of {rounds} rounds."
    return tables.Table("storm", rows, columns, note)


def compare_on_few_cores(client: Any, path: Path, arch: str, cores: int = 2, rounds: int = 5) -> tables.Table:
    """Let all workers share a few logical processors, and compare a storm and a broadcast, as `compare_plans` does.

    The rows are those of `compare_plans`.
    """
    everywhere = sorted(os.sched_getaffinity(0))
    on_each(client, os.sched_setaffinity, 0, everywhere[:cores])  # of the thread that runs the worker's tasks
    try:
        table = compare_plans(client, path, arch, rounds=rounds, only=("each its own empty cache", BROADCAST))
    finally:
        on_each(client, os.sched_setaffinity, 0, everywhere)
    table.name, table.note = "storm_on_few_cores", f"Logical processors: {cores}. {table.note}"
    return table


def _plans(client: Any, path: Path, arch: str, nvcc: bool, imports: bool) -> dict[str, Plan]:
    """Return the plans of a round. A new name makes the kernel unknown to every cache."""
    text = path.read_text(encoding="utf-8")
    shared = Path(on_each(client, tasks.own_cache)[0]).parent.parent / f"shared-{secrets.token_hex(4)}"

    def fresh() -> str:
        return f"#define {path.stem} {path.stem}_{secrets.token_hex(4)}\n{text}"

    for_cache, for_nvrtc = fresh(), fresh()
    plans: dict[str, Plan] = {
        "each its own empty cache": lambda: on_each(client, tasks.compile_cubin, fresh(), arch),
        "one empty cache for all": lambda: on_each(client, tasks.compile_cubin, for_cache, arch, shared),
        "that cache, filled": lambda: on_each(client, tasks.compile_cubin, for_cache, arch, shared),
        "NVRTC's own cache, empty": lambda: on_each(client, tasks.compile_by_nvrtc, for_nvrtc, arch),
        "NVRTC's own cache, filled": lambda: on_each(client, tasks.compile_by_nvrtc, for_nvrtc, arch),
        BROADCAST: lambda: _one_for_all(client, tasks.compile_cubin, fresh(), arch),
    }
    if nvcc:
        plans["each by nvcc"] = lambda: on_each(client, tasks.compile_by_nvcc, path, arch)
        plans["one by nvcc, broadcast"] = lambda: _one_for_all(client, tasks.compile_by_nvcc, path, arch)
    if imports and toolchain.installed("fourways_aot"):
        plans["ahead of time, imported"] = lambda: on_each(client, tasks.import_binding)
    return plans


def _spread(summary: dict[str, float]) -> str:
    return tables.seconds_range(summary["p10"], summary["p90"]) if summary["samples"] > 1 else ""


def _whole_range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} – {high}"


def _one_for_all(client: Any, build: Callable[..., tasks.Parcel], *arguments: Any) -> list[tasks.Parcel]:
    parcel = client.submit(build, *arguments, pure=False).result()
    return [parcel, *broadcast(client, parcel, arguments[-1])]


def _measured(client: Any, plan: Plan) -> dict[str, Any]:
    before = client.run(cpu_seconds)  # tasks would take the workers more time
    start = time.perf_counter()
    parcels = plan()
    seconds = time.perf_counter() - start
    spent = sum(client.run(cpu_seconds).values()) - sum(before.values())
    built = sum(parcel.built for parcel in parcels)
    return {"workers": len(before), "built": built, "cpu_seconds": spent, "seconds": seconds}


def storm_figure(table: tables.Table) -> Any:
    """Draw the CPU seconds of each plan as bars."""
    values = {row["plan"]: row["cpu_seconds"]["median"] for row in table.rows}
    title = f"One kernel for {table.rows[0]['workers']} workers"
    return figures.bars({"CPU seconds of all workers": values}, tables.seconds, {}, title)
