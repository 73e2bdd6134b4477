"""The judges of the exercises on caches and halos: right answers, wrong answers, and dodges."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourways.experiments import cluster

Build = Callable[[], bytes]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    pytest.importorskip("distributed")
    with cluster.workers(3) as client:
        yield client


def in_a_queue(file: Path, build: Build) -> bytes:
    with Path(f"{file}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            file.write_bytes(build())
        return file.read_bytes()


def without_a_queue(file: Path, build: Build) -> bytes:
    if not file.exists():
        file.write_bytes(build())
    return file.read_bytes()


def touched_first(file: Path, build: Build) -> bytes:
    if not file.exists():
        file.touch()
        file.write_bytes(build())
    return file.read_bytes()


def looked_before_the_queue(file: Path, build: Build) -> bytes:
    if not file.exists():
        with Path(f"{file}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            file.write_bytes(build())
    return file.read_bytes()


KEPT: dict[Path, bytes] = {}


def kept_in_memory(file: Path, build: Build) -> bytes:
    if file not in KEPT:
        KEPT[file] = build()
    return KEPT[file]


def never_built(file: Path, build: Build) -> bytes:
    return bytes(12_000)


def an_error_is_hidden(file: Path, build: Build) -> bytes:
    with Path(f"{file}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        while not file.exists():
            try:
                file.write_bytes(build())
            except RuntimeError:
                continue
        return file.read_bytes()


def a_lock_that_stays(file: Path, build: Build) -> bytes:
    try:
        os.close(os.open(f"{file}.lock", os.O_CREAT | os.O_EXCL))
        whole = file.with_suffix(".new")
        whole.write_bytes(build())
        whole.rename(file)
    except FileExistsError:
        while not file.exists():
            time.sleep(0.02)
    return file.read_bytes()


@pytest.mark.long
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (in_a_queue, "Right: one build for 3 workers, even after an error"),
        (without_a_queue, "Not yet: 3 of 3 workers built, at the same time."),
        (touched_first, "Not yet: a worker got 0 of 12,000 bytes"),
        (looked_before_the_queue, "Not yet: 3 of 3 workers built, one after the other"),
        (kept_in_memory, "Not yet: the file does not hold the kernel afterwards"),
        (never_built, "Not yet: no worker called build()."),
        (an_error_is_hidden, "Not yet: the error of build() must reach the worker that built"),
        (a_lock_that_stays, "Not yet: after 3 s some workers still wait after a build that raised an error."),
    ],
)
def test_one_worker_builds(
    answer: Any, told: str, client: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourways.experiments.cluster.exercises._LIMIT", 3.0)
    cluster.check_get_or_build(answer, client)
    assert capsys.readouterr().out.startswith(told)


def filled(strips: list[np.ndarray]) -> None:
    for upper, lower in pairwise(strips):
        upper[-1], lower[0] = lower[1], upper[-2]


def swapped_halos(strips: list[np.ndarray]) -> None:
    for upper, lower in pairwise(strips):
        upper[-1], lower[0] = lower[0].copy(), upper[-1].copy()


def in_the_wrong_order(strips: list[np.ndarray]) -> None:
    for upper, lower in pairwise(strips):
        upper[-1] = lower[1]
        lower[0] = upper[-1]


def for_three_strips(strips: list[np.ndarray]) -> None:
    upper, middle, lower = strips
    filled([upper, middle, lower])


def edges_overwritten(strips: list[np.ndarray]) -> None:
    for upper, lower in pairwise(strips):
        upper[-2], lower[1] = lower[1].copy(), upper[-2].copy()


def cut_off(strips: list[np.ndarray]) -> None:
    strips[:] = [strip[:-1] for strip in strips]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (filled, "Right: after a step, 2 to 5 strips"),
        (lambda strips: None, "Not yet: 3 strips: strip 0, row 4: this halo still holds"),
        (swapped_halos, "Not yet: 3 strips: strip 0, row 4: it did not get a row that the neighbour computed"),
        (in_the_wrong_order, "Not yet: 3 strips: strip 1, row 0: it got a row of its own strip"),
        (edges_overwritten, "Not yet: 3 strips: strip 0, row 3: it was right before"),
        (for_three_strips, "Not yet: 2 strips: ValueError"),
        (cut_off, "Not yet: 3 strips: strip 0, the shape was (5, 8) and is (4, 8)."),
    ],
)
def test_halos_are_filled(answer: Any, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.check_exchange(answer)
    assert capsys.readouterr().out.startswith(told)
