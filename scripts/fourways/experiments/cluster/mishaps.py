"""Mishaps on a cluster's workers: a task whose worker dies, a cubin for another GPU, and caches that cannot be used."""

import os
import re
import resource
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fourways.experiments.cluster import tasks
from fourways.experiments.cluster.storm import broadcast
from fourways.experiments.cluster.workers import on_each, workers


def mishaps(source: str) -> Iterator[tuple[str, str]]:
    """Let a kernel's builds go wrong on two workers of their own; yield each mishap with what the caller gets."""
    with tempfile.TemporaryDirectory(prefix="fourways-") as place, workers(2, allowed_deaths=1) as client:
        folder = Path(place)
        folder.chmod(0o755)
        (folder / "file").touch()

        def result(function: Callable[..., Any], *arguments: Any) -> str:
            try:
                outcome = client.submit(function, *arguments, pure=False).result()
            except Exception as error:
                told = re.sub(r"task '\S+'", "the task", str(error).partition(". ")[0])
                outcome = f"{type(error).__name__}: {told}"
            return str(outcome).replace(place, "…")

        yield "the worker is killed once", result(dies, source, folder / "once", 1)
        yield "each worker is killed", result(dies, source, folder / "always", 9)
        client.wait_for_workers(2)
        try:
            broadcast(client, tasks.Parcel("sm_80", b"", built=True), "sm_90")
        except ValueError as error:
            yield "a cubin for another GPU", f"ValueError: {error}"
        yield "the cache's folder is a file", result(compiled, source, folder / "file" / "cache")
        yield "no file may exceed 1000 bytes", result(with_small_files, source, folder / "small")
        on_each(client, tasks.prepare)
        result(compiled, source, folder / "read_only")
        for path in (folder / "read_only", *(folder / "read_only").rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield "a read-only cache has the kernel", result(as_nobody, source, folder / "read_only")
        yield "a read-only cache lacks the kernel", result(as_nobody, f"{source}// new", folder / "read_only")


def compiled(source: str, cache: Path) -> str:
    """Return "compiled" if the kernel had to be compiled, or "came from the cache"."""
    return "compiled" if tasks.compile_cubin(source, "sm_90", cache).built else "came from the cache"


def dies(source: str, deaths: Path, most: int) -> str:
    """Compile, but be killed meanwhile as long as the folder `deaths` has fewer than `most` entries."""
    tasks.compile_cubin("", "sm_90")  # imports, and loads NVRTC
    deaths.mkdir(exist_ok=True)
    if len(list(deaths.iterdir())) < most:
        (deaths / str(os.getpid())).touch()
        threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return compiled(source, deaths.with_suffix(".cache"))


def with_small_files(source: str, cache: Path) -> str:
    """Compile in a process that may not write files of more than 1000 bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        return compiled(source, cache)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def as_nobody(source: str, cache: Path) -> str:
    """Compile as the user "nobody" if this is the administrator, who may write everywhere."""
    tasks.compile_cubin("", "sm_90")  # this user might not be able to import, or to load NVRTC
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)  # nobody
    try:
        return compiled(source, cache)
    finally:
        os.seteuid(before)
