"""Eight real workers with cold caches: who builds, what it costs, and what becomes of faults. Needs no GPU."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourways import kernels
from fourways.experiments import cluster
from fourways.experiments.cluster.mishaps import dies

pytest.importorskip("distributed")
STENCIL = kernels.path("stencil")
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster.workers(8, allowed_deaths=1) as client:
        yield client


def test_one_worker_builds_for_a_broadcast_and_each_in_a_storm(client: Any) -> None:
    rows = {row["plan"]: row for row in cluster.compare_plans(client, STENCIL, "sm_90", nvcc=True, rounds=2).rows}
    assert {row["workers"] for row in rows.values()} == {8}
    assert rows["each its own empty cache"]["built"] == rows["each by nvcc"]["built"] == [8, 8]
    assert rows["NVRTC's own cache, filled"]["built"] == [8, 8], "NVRTC is called, and does not tell what it does"
    assert rows["that cache, filled"]["built"] == [0, 0]
    assert rows["one builds, broadcast"]["built"] == rows["one by nvcc, broadcast"]["built"] == [1, 1]
    assert rows["ahead of time, imported"]["built"] == [0], "a process imports once"
    assert all(row["cpu_seconds"]["p10"] > 0 for row in rows.values() if any(row["built"]))


def test_few_cores_are_given_back(client: Any) -> None:
    table = cluster.compare_on_few_cores(client, STENCIL, "sm_90", cores=1, rounds=1)
    assert [row["built"] for row in table.rows] == [[8], [1]]
    assert table.note.startswith("Logical processors: 1. 8 workers")
    assert {len(cores) for cores in cluster.on_each(client, os.sched_getaffinity, 0)} == {len(os.sched_getaffinity(0))}


def test_a_task_on_each_ends_where_a_worker_dies(tmp_path: Path) -> None:
    from distributed.scheduler import NoValidWorkerError

    with cluster.workers(2) as client, pytest.raises(NoValidWorkerError):
        cluster.on_each(client, dies, kernels.source("stencil"), tmp_path / "deaths", 1)


def test_mishaps_and_what_the_caller_gets() -> None:
    outcomes = dict(cluster.mishaps(kernels.source("stencil")))
    assert outcomes["the worker is killed once"] == "compiled"
    assert "on 2 different workers, but all those workers died" in outcomes["each worker is killed"]
    assert outcomes["a cubin for another GPU"].startswith("ValueError: a cubin for sm_80 came")
    assert "(Not a directory)" in outcomes["the cache's folder is a file"]
    assert "(File too large)" in outcomes["no file may exceed 1000 bytes"]
    assert outcomes["a read-only cache has the kernel"] == "came from the cache"
    assert "(Permission denied)" in outcomes["a read-only cache lacks the kernel"]
