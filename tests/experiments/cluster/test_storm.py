"""Eight real workers with cold caches: who builds, what it costs, and what becomes of faults. Needs no GPU."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourways import kernels
from fourways.experiments import cluster

pytest.importorskip("distributed")
STENCIL = kernels.path("stencil")
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster.workers(8, retries=1) as client:
        yield client


def test_one_worker_builds_for_a_broadcast_and_each_in_a_storm(client: Any) -> None:
    rows = {row["plan"]: row for row in cluster.compare_plans(client, STENCIL, "sm_90", nvcc=True).rows}
    assert {row["workers"] for row in rows.values()} == {8}
    assert rows["each its own empty cache"]["built"] == rows["each by nvcc"]["built"] == 8
    assert rows["that cache, filled"]["built"] == 0
    assert rows["one builds, broadcast"]["built"] == rows["one by nvcc, broadcast"]["built"] == 1
    assert all(row["cpu_seconds"] > 0 for row in rows.values() if row["built"])


def test_every_worker_has_the_same_cubin(client: Any) -> None:
    parcel = client.submit(cluster.compile_cubin, kernels.source("stencil"), "sm_90").result()
    assert parcel.code[:4] == b"\x7fELF" and parcel.built
    assert {each.code for each in cluster.broadcast(client, parcel, "sm_90")} == {parcel.code}


def test_a_cubin_of_another_architecture_is_refused(client: Any) -> None:
    parcel = client.submit(cluster.compile_cubin, kernels.source("stencil"), "sm_80").result()
    with pytest.raises(
        ValueError, match="a cubin for sm_80 came, and one that runs on sm_90 is wanted: build for sm_90"
    ):
        cluster.broadcast(client, parcel, "sm_90")
    assert len(cluster.broadcast(client, parcel, "sm_86")) == 8


def test_a_cache_that_is_no_folder_is_named(client: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"the cache .*/file/cache cannot be used \(Not a directory\): name a folder"):
        client.submit(cluster.compile_cubin, "", "sm_90", tmp_path / "file" / "cache").result()


def test_a_cache_that_cannot_be_written_still_serves_what_it_holds() -> None:
    """The second text is new to it. The administrator may write everywhere, so this is somebody else."""
    program = """if True:
        import os, sys
        from fourways.experiments import cluster
        cluster.compile_cubin("", "sm_90", sys.argv[1])
        for folder, _, files in os.walk(sys.argv[1]):
            os.chmod(folder, 0o555)
            for file in files:
                os.chmod(os.path.join(folder, file), 0o444)
        if os.getuid() == 0:
            os.setuid(65534)
        print(cluster.compile_cubin("", "sm_90", sys.argv[1]).built)
        cluster.compile_cubin("// new", "sm_90", sys.argv[1])
    """
    with tempfile.TemporaryDirectory() as parent:  # pytest's own folders are closed to others
        Path(parent).chmod(0o755)
        done = subprocess.run([sys.executable, "-c", program, f"{parent}/cache"], capture_output=True, text=True)
        for path in (Path(parent, "cache"), *Path(parent, "cache").rglob("*")):
            path.chmod(0o755)
    assert done.stdout == "False\n", done.stderr
    assert "cannot be used (Permission denied): name a folder that this worker can write" in done.stderr


def test_a_cache_that_is_full_is_named_and_keeps_no_half_file(client: Any, tmp_path: Path) -> None:
    def with_little_room(source: str) -> None:
        import resource

        # `client.run` calls this in the main thread, where alone signals can be set
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
        try:
            cluster.compile_cubin(source, "sm_90", tmp_path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    with pytest.raises(OSError, match=r"the cache .* cannot be used \(File too large\)"):
        client.run(with_little_room, kernels.source("stencil"), workers=list(client.scheduler_info()["workers"])[:1])
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def dies(source: str, times: Path, most: int, cache: Path) -> cluster.Parcel:
    """Compile, and be killed meanwhile as long as `times` has fewer than `most` entries."""
    cluster.compile_cubin("", "sm_90")  # imports, and loads NVRTC
    if len(list(times.iterdir())) < most:
        (times / str(os.getpid())).touch()
        threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return cluster.compile_cubin(source, "sm_90", cache)


def test_a_worker_that_dies_in_mid_compile_is_replaced(client: Any, tmp_path: Path) -> None:
    times, cache = tmp_path / "times", tmp_path / "cache"
    times.mkdir()
    parcel = client.submit(dies, kernels.source("stencil"), times, 1, cache).result(timeout=60)
    assert parcel.built and len(list(times.iterdir())) == 1
    assert [path.read_bytes() for path in (cache / "entries").rglob("*") if path.is_file()] == [parcel.code]
    assert [path for path in (cache / "tmp").rglob("*") if path.is_file()] == []


def test_a_task_on_each_ends_where_a_worker_dies(tmp_path: Path) -> None:
    from distributed.scheduler import NoValidWorkerError

    times = tmp_path / "times"
    times.mkdir()
    with cluster.workers(2) as client, pytest.raises(NoValidWorkerError):
        cluster.on_each(client, dies, kernels.source("stencil"), times, 1, tmp_path / "cache")


def test_a_task_that_kills_its_workers_ends(client: Any, tmp_path: Path) -> None:
    from distributed import KilledWorker

    times = tmp_path / "times"
    times.mkdir()
    with pytest.raises(KilledWorker, match="2 different workers"):
        client.submit(dies, kernels.source("stencil"), times, 9, tmp_path / "cache").result(timeout=60)
    assert len(list(times.iterdir())) == 2
