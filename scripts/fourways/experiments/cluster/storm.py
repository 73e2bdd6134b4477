"""Plans by which N workers get a kernel, and their costs: each builds, one builds for all, or it was built before.

All plans run on the same workers, after their imports. An unused macro with a new value makes the kernel new for each
plan. The workers count their own CPU seconds, those of their children and of Dask included. The cost of asking for
these numbers is measured once, and subtracted.
"""

import itertools
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fourways import figures, tables, toolchain
from fourways.experiments.cluster import tasks
from fourways.experiments.cluster.workers import cpu_seconds, on_each

Plan = Callable[[], list[tasks.Parcel]]


def broadcast(client: Any, parcel: tasks.Parcel, arch: str) -> list[tasks.Parcel]:
    """Send a cubin to every worker, and return what each worker accepted for a GPU of `arch`.

    Raises ValueError if a worker refuses it.
    """
    return on_each(client, tasks.accept, parcel, arch)


def compare_plans(client: Any, path: Path, arch: str, nvcc: bool = False) -> tables.Table:
    """Bring the kernel file `path` to all workers of `client` for `arch` by each plan, and return a table.

    A row has `plan`, `workers`, `built` (how many workers compiled), `cpu_seconds` (of all workers together) and
    `seconds` (host clock, until the last worker has the kernel). `nvcc` adds plans with nvcc. If `fourways_aot` is
    installed, importing it is one more plan. Raises what a worker raises.
    """
    text = path.read_text(encoding="utf-8")
    shared = Path(on_each(client, tasks.own_cache)[0]).parent.parent / f"shared-{secrets.token_hex(4)}"
    numbers = itertools.count()

    def fresh() -> str:
        return f"#define NOBODY_READS {next(numbers)}{secrets.randbits(32)}\n{text}"

    source = fresh()
    plans: dict[str, Plan] = {
        "each its own empty cache": lambda: on_each(client, tasks.compile_cubin, fresh(), arch),
        "one empty cache for all": lambda: on_each(client, tasks.compile_cubin, source, arch, shared),
        "that cache, filled": lambda: on_each(client, tasks.compile_cubin, source, arch, shared),
        "one builds, broadcast": lambda: _one_for_all(client, tasks.compile_cubin, fresh(), arch),
    }
    if nvcc:
        plans["each by nvcc"] = lambda: on_each(client, tasks.compile_by_nvcc, path, arch)
        plans["one by nvcc, broadcast"] = lambda: _one_for_all(client, tasks.compile_by_nvcc, path, arch)
    if toolchain.installed("fourways_aot"):
        plans["ahead of time, imported"] = lambda: on_each(client, tasks.import_binding)
    on_each(client, tasks.prepare)
    asking = _measured(client, list)["cpu_seconds"]
    rows = [{"plan": name} | _measured(client, plan) for name, plan in plans.items()]
    for row in rows:
        row["cpu_seconds"] = max(0.0, row["cpu_seconds"] - asking)
    columns: list[tables.Column] = ["plan", ("builds", "built"), ("CPU, all workers", "cpu_seconds")]
    columns.append(("until the last has it", "seconds"))
    return tables.Table("storm", rows, columns, f"{rows[0]['workers']} workers, one run each; host clock.")


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
    return {"workers": len(before), "built": built, "cpu_seconds": spent, "seconds": seconds, "clock": "host"}


def storm_figure(table: tables.Table) -> Any:
    """Draw the CPU seconds of each plan as bars."""
    values = {row["plan"]: row["cpu_seconds"] for row in table.rows}
    title = f"One kernel for {table.rows[0]['workers']} workers"
    return figures.bars({"CPU seconds of all workers": values}, tables.seconds, {}, title)
