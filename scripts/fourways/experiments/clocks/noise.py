"""How samples of one call spread, and by how much two equal calls seem to differ."""

import functools
import random
from collections.abc import Callable, Mapping

import numpy as np

from fourways import measuring
from fourways.experiments.clocks.launches import Saxpy, Timer, busy, on_gpu
from fourways.tables import Column, Row, Table, summary
from fourways.ways import is_host

_CLOCKS = {"waited": "host, waited", "events, busy": "device"}


def samplers(
    ways: Mapping[str, Saxpy], alone: Timer, waited: Timer, events: Callable[..., float]
) -> dict[str, Callable[[], float]]:
    """Return functions that take one sample of saxpy, of 2¹⁸ elements, by clock; `ways` are those that can run here.

    `alone`, `waited` and `events` are the lesson's timers. The first way on the GPU stands for all of them.
    """
    size, chosen = 2**18, dict[str, Callable[[], float]]()
    on_the_gpu = [saxpy for way, saxpy in ways.items() if not is_host(way)]
    for saxpy in (saxpy for way, saxpy in ways.items() if is_host(way)):
        x, y = np.random.default_rng(2).random((2, size), dtype=np.float32)
        call = functools.partial(saxpy, np.float32(2.5), x, y, np.zeros_like(x))
        chosen["alone, host way"] = functools.partial(alone, call)
    for saxpy in on_the_gpu[:1]:
        chosen["waited"] = functools.partial(waited, on_gpu(saxpy, size))
        chosen["events, busy"] = functools.partial(events, on_gpu(saxpy, size), first=busy)
    return chosen


def noise(samplers: Mapping[str, Callable[[], float]], count: int = 400) -> Table:
    """Take `count` samples by each sampler, a function that returns seconds, and show how they spread.

    "±, median of n" is half of the distance from p10 to p90 of the median of n samples, as a share of the median: n
    samples are drawn 2,000 times.
    """
    draws, rows = np.random.default_rng(6), list[Row]()
    for timer, sample in samplers.items():
        samples = np.array([sample() for _ in range(count)])
        middle = float(np.median(samples))
        row: Row = {"timer": timer, "clock": _CLOCKS.get(timer, "host"), "seconds": summary(samples.tolist())}
        row |= {f"{name}_seconds": float(getattr(samples, name)()) for name in ("min", "mean", "max")}
        for number in (1, 5, 50):
            medians = np.median(draws.choice(samples, (2000, number)), axis=1)
            p10, p90 = np.percentile(medians, [10, 90])
            row[f"spread_{number}"] = float((p90 - p10) / 2 / middle)
        rows.append(row)

    def spread(number: int, words: str) -> Column:
        return words, lambda row: f"{100 * row[f'spread_{number}']:.2f} %"

    spreads = [spread(1, "±, one sample"), spread(5, "±, median of 5"), spread(50, "±, median of 50")]
    shown: list[Column] = [("clock", "timer"), "min_seconds", "seconds", "mean_seconds", "max_seconds", *spreads]
    return Table("noise", rows, shown, f"{count} samples each.")


def twins(samplers: Mapping[str, Callable[[], float]], trials: int = 20, rounds: int = 10) -> Table:
    """Compare a call with itself: by how much the medians of `rounds` samples and of as many more differ, by order.

    A trial takes one sampler's samples as those of two calls: all of the first before all of the second, in turns, or
    in turns of which each begins with a call drawn by lot (seed 1).
    """
    rows: list[Row] = []
    lots = random.Random(1)
    orders: dict[str, Callable[[], list[int]]] = {
        "one after the other": lambda: [0] * rounds + [1] * rounds,
        "in turns": lambda: [0, 1] * rounds,
        "in turns, by lot": lambda: [which for _ in range(rounds) for which in lots.sample((0, 1), 2)],
    }
    for timer, sample in samplers.items():
        differences: dict[str, list[float]] = {name: [] for name in orders}
        for name in measuring.turns(trials, list(orders)):
            samples: tuple[list[float], list[float]] = ([], [])
            for which in orders[name]():
                samples[which].append(sample())
            first, second = map(np.median, samples)
            differences[name].append(abs(float(second / first - 1)))
        for name, seen in differences.items():
            row: Row = {"timer": timer, "clock": _CLOCKS.get(timer, "host"), "order": name}
            rows.append(row | {"typical": float(np.median(seen)), "worst": max(seen)})
    columns: list[Column] = [
        ("clock", "timer"),
        "order",
        ("typical difference", lambda row: f"{100 * row['typical']:.2f} %"),
        ("worst", lambda row: f"{100 * row['worst']:.2f} %"),
    ]
    note = f"Two identical calls, medians of {rounds} samples each; {trials} trials."
    return Table("twins", rows, columns, note)
