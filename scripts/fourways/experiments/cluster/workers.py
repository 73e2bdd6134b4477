"""A Dask cluster of worker processes on this machine."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fourways import toolchain


@contextmanager
def workers(count: int, allowed_deaths: int = 3) -> Iterator[Any]:
    """Yield a `distributed.Client` of `count` fresh worker processes with one thread each; they end with the block.

    Each worker has its own folder with its cache (`tasks.own_cache`). A task whose worker dies is given to another
    worker, up to `allowed_deaths` times (Dask's setting `distributed.scheduler.allowed-failures`). The cluster listens
    on 127.0.0.1, which other machines cannot reach. Workers are forked from a process that stays for the next cluster,
    and ends with the caller's process.
    Raises RuntimeError, with the remedy, if Dask's distributed is missing.
    """
    if reason := toolchain.missing("distributed"):
        raise RuntimeError(reason)
    import dask
    from distributed import Client, LocalCluster

    settings = {
        "distributed.scheduler.allowed-failures": allowed_deaths,
        # a task that is bound to a dead worker must not wait forever
        "distributed.scheduler.no-workers-timeout": "20s",
        # the workers' imports are made once, in a process from which they are forked
        "distributed.worker.multiprocessing-method": "forkserver",
        # Dask's samples for its dashboard would count as CPU seconds
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "500ms",
    }
    local: dict[str, Any] = {"n_workers": count, "threads_per_worker": 1, "env": toolchain.variables()}
    local |= {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": "CRITICAL"}
    with (
        tempfile.TemporaryDirectory(prefix="fourways-", ignore_cleanup_errors=True) as folder,
        dask.config.set(settings | {"temporary-directory": folder}),
        LocalCluster(**local) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(count, timeout=120)
        yield client


def on_each(client: Any, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Run `function(*arguments)` as one task on each worker, all at once, and return the results in the workers' order.

    Raises what a task raises, distributed's NoValidWorkerError if a worker dies before its task is done, and
    RuntimeError if there is no worker, for example while all of them are restarted.
    """
    addresses = list(client.scheduler_info(n_workers=-1)["workers"])
    if not addresses:
        raise RuntimeError("the cluster has no worker now: client.wait_for_workers(1) waits for one")
    tasks = [client.submit(function, *arguments, workers=[address], pure=False) for address in addresses]
    return client.gather(tasks)


def cpu_seconds() -> float:
    """Return the CPU seconds of this process so far, on all threads, and of its children that have ended."""
    ended = os.times()
    return time.process_time() + ended.children_user + ended.children_system
