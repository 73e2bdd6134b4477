"""The judges of the exercises on caches and halos: right answers, wrong answers, and dodges."""

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourways.experiments import cluster
from fourways.experiments.cluster.exercises import ask

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
    with contextlib.suppress(FileExistsError):
        file.touch(exist_ok=False)
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


def looked_twice_and_replaced(file: Path, build: Build) -> bytes:
    if file.exists():
        return file.read_bytes()
    with Path(f"{file}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            whole = file.with_suffix(".new")
            whole.write_bytes(build())
            whole.replace(file)
    return file.read_bytes()


def looked_twice(file: Path, build: Build) -> bytes:
    if file.exists():
        return file.read_bytes()
    return in_a_queue(file, build)


def after_a_fixed_time(file: Path, build: Build) -> bytes:
    from distributed import get_worker

    time.sleep(2.0 * int(get_worker().name))
    return without_a_queue(file, build)


def marked_in_the_lock(file: Path, build: Build) -> bytes:
    with Path(f"{file}.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if not lock.read():
            file.write_bytes(build())
            lock.write("built")
        return file.read_bytes()


@pytest.mark.long
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (in_a_queue, "Right: one build for 3 workers, even after an error"),
        (looked_twice_and_replaced, "Right: one build for 3 workers, even after an error"),
        (marked_in_the_lock, "Not yet: the file was there already, and 1 of 3 workers built it again."),
        (after_a_fixed_time, "Not yet: a worker waited for "),
        (without_a_queue, ("Not yet: 3 of 3 workers built, at the same time", "Not yet: a worker got ")),
        (touched_first, "Not yet: a worker got 0 of 12,000 bytes"),
        (looked_before_the_queue, "Not yet: 3 of 3 workers built, one after the other"),
        (kept_in_memory, "Not yet: the file does not hold the kernel afterwards"),
        (never_built, "Not yet: no worker called build()."),
        (an_error_is_hidden, "Not yet: the error of build() must reach the worker that built"),
        (a_lock_that_stays, "Not yet: after 3 s some workers still wait after a build that raised an error."),
    ],
)
def test_one_worker_builds(
    answer: Any,
    told: str | tuple[str, ...],
    client: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fourways.experiments.cluster.exercises._LIMIT", 6.0 if answer is after_a_fixed_time else 3.0)
    cluster.check_get_or_build(answer, client)
    assert capsys.readouterr().out.startswith(told)


@pytest.mark.long
def test_a_file_is_not_read_while_it_is_written(client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):  # a busy machine may let the latecomers look too late
        cluster.check_get_or_build(looked_twice, client)
        if (told := capsys.readouterr().out).startswith("Not yet"):
            break
    assert re.fullmatch(r"Not yet: a worker got [\d,]+ of 48,000,000 bytes: it read before .*\n", told)


def test_a_latecomer_looks_often_enough_to_see_half_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The builder needs milliseconds to write the file, and the latecomer must ask in between."""
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 4:
            (tmp_path / "file").write_bytes(b"ha")

    monkeypatch.setattr(time, "sleep", sleep)
    asked = ask(lambda file, _: file.read_bytes(), tmp_path / "file", bytes, begin=0, patience=60)
    assert asked.length == 2 and len(slept) == 4 and max(slept) < 0.01


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


def new_arrays(strips: list[np.ndarray]) -> None:
    old = list(strips)
    for number, strip in enumerate(old):
        above = old[number - 1][-2:-1] if number else strip[:0]
        below = old[number + 1][1:2] if number + 1 < len(old) else strip[:0]
        own = strip[1 if number else 0 : -1 if number + 1 < len(old) else None]
        strips[number] = np.vstack([above, own, below])


def never_one_strip(strips: list[np.ndarray]) -> None:
    strips[1][0] = strips[0][-2]
    filled(strips)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (filled, "Right: after a step, 2 to 5 strips"),
        (lambda strips: None, "Not yet: 3 strips: strip 0, row 4: this halo still holds"),
        (swapped_halos, "Not yet: 3 strips: strip 0, row 4: it did not get a row that the neighbour computed"),
        (in_the_wrong_order, "Not yet: 3 strips: strip 1, row 0: it got a row of its own strip"),
        (edges_overwritten, "Not yet: 3 strips: strip 0, row 3: it was right before"),
        (for_three_strips, "Not yet: 2 strips: ValueError"),
        (cut_off, "Not yet: 3 strips: strip 0, the list holds another array now"),
        (new_arrays, "Not yet: 3 strips: strip 0, the list holds another array now"),
        (lambda strips: strips.reverse(), "Not yet: 3 strips: strip 0, row 4: this halo still holds"),
        (never_one_strip, "Not yet: 1 strip: IndexError"),
    ],
)
def test_halos_are_filled(answer: Any, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.check_exchange(answer)
    assert capsys.readouterr().out.startswith(told)
