"""Strips with halos give the plate that one array gives, bit by bit; here in threads, which send rows by queues."""

import inspect
import textwrap
import threading
from contextlib import nullcontext
from queue import Queue
from typing import Any

import numpy as np
import pytest

from fourways import lesson
from fourways.experiments import cluster
from fourways.experiments.cluster import strips


def launch(u: np.ndarray, v: np.ndarray) -> None:
    """A step as the kernel takes it: the border is kept."""
    v[:] = u
    v[1:-1, 1:-1] = np.float32(0.25) * ((u[:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, :-2] + u[1:-1, 2:]))


class Stream(nullcontext):
    """Of NumPy, where all is done in order."""

    def wait_event(self, event: Any) -> None:
        pass

    def record(self, stream: Any) -> None:
        pass


def plate(height: int) -> np.ndarray:
    return np.random.default_rng(2).random((height, 9), np.float32)


def whole(u: np.ndarray, steps: int) -> np.ndarray:
    for _ in range(steps):
        v = np.empty_like(u)
        launch(u, v)
        u = v
    return u


@pytest.mark.parametrize("step", [strips.step_then_exchange, cluster.step_while_exchanging])
@pytest.mark.parametrize(("count", "height"), [(1, 6), (2, 6), (2, 7), (3, 11), (4, 13), (4, 8)])
def test_ranks_that_exchange_halos(step: Any, count: int, height: int) -> None:
    u, queues = plate(height), {(a, b): Queue() for a in range(count) for b in range(count)}
    found: dict[int, np.ndarray] = {}

    def rank_of(rank: int) -> None:
        def exchange(pairs: list, stream: Any) -> None:
            for side, row, _ in pairs:
                queues[rank, side.peer].put(row.copy())
            for side, _, halo in pairs:
                halo[:] = queues[side.peer, rank].get(timeout=20)

        sides = strips.sides(rank, count)
        for side in sides:
            side.fresh = np.empty((3, u.shape[1]), np.float32)
        strip = strips.Strip(launch, exchange, sides, Stream(), Stream(), Stream(), Stream())
        held = strips.with_halos(rank, count, height)
        old, new = u[held.start : held.stop].copy(), np.full((len(held), u.shape[1]), np.nan, np.float32)
        strips.steps_by_launches(step, strip, old, new)()
        found[rank] = old[strip.own]

    threads = [threading.Thread(target=rank_of, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(np.concatenate([found[rank] for rank in range(count)]), whole(u, strips.ROUND))


@pytest.mark.parametrize(("count", "height"), [(1, 6), (2, 7), (3, 11)])
def test_peer_copies(count: int, height: int) -> None:
    u, parts = plate(height), []
    for rank in range(count):
        held = strips.with_halos(rank, count, height)
        mine = u[held.start : held.stop].copy()
        parts.append(strips.Part(nullcontext(), strips.sides(rank, count), Stream(), Stream(), mine, mine + 9))
    for _ in range(5):
        strips.step_with_peer_copies(parts, launch, lambda halo, part, row, peer: np.copyto(halo, row))
    got = []
    for rank, part in enumerate(parts):
        held, own = strips.with_halos(rank, count, height), strips.own_rows(rank, count, height)
        got.append(part.u[own.start - held.start :][: len(own)])
    assert np.array_equal(np.concatenate(got), whole(u, 5))


def test_the_page_shows_the_simple_step() -> None:
    body = textwrap.dedent(inspect.getsource(strips.step_then_exchange).partition('"""\n')[2])
    assert f"```python\n{body}```" in lesson.find("several_gpus").path.read_text(encoding="utf-8")
