"""The judges of lesson 06: is a comparison fair, and how long does the kernel of a made-up GPU take?"""

import random
from collections.abc import Callable
from functools import partial
from typing import Any


def check_fair(fair: Callable[..., Any], rounds: int = 15) -> str:
    """Judge `fair(calls, rounds, clock)`: it times each of `calls`, by name, `rounds` times, and returns seconds."""
    costs = {"other": 1.0, "one": (one := random.uniform(1, 3)), "twin": one, "long": 5.0}
    few = {name: [0.5] + [random.uniform(5, 20)] * 3 for name in costs}
    odd = {name: random.sample(few[name] + [1.0] * (rounds - 4), rounds) for name in costs}
    for what in ("slows down", "stumbles"):
        now, made = [0.0], list[str]()

        def work(name: str, what: str = what, now: list[float] = now, made: list[str] = made) -> None:
            number = made.count(name) % rounds
            now[0] += costs[name] * (1.005 ** len(made) if what == "slows down" else odd[name][number])
            made.append(name)

        times = fair({name: partial(work, name) for name in costs}, rounds, lambda now=now: now[0])
        if not isinstance(times, dict) or set(times) != set(costs):
            return f"Not yet: it returned {times!r}; expected a dictionary with the names {', '.join(costs)}."
        for name in costs:
            if made.count(name) < rounds:
                return f"Not yet: {name!r} was called {made.count(name)} of {rounds} times."
            came, right = times[name] / times["one"], costs[name] / costs["one"]
            if not abs(came / right - 1) < 0.025:
                told = f"{name!r} takes {right:.2f} times as long as 'one', and you say {came:.2f} times"
                return f"Not yet: on a machine that {what}, {told}."
    return "Right: equal calls come out equal, on a machine that slows down and on one that stumbles."


class MadeUpGpu:
    """A made-up GPU with one stream, and its host; times are in seconds. Lesson 06 says what the methods do."""

    def __init__(self, kernel: float) -> None:
        self.kernel, self.host = kernel, random.uniform(4e-6, 15e-6)  # the host's time to queue something
        self.event, self.pause = random.uniform(0.5e-6, 2e-6), random.uniform(0.5e-6, 1e-6)
        self.now = self.free = 0.0  # the time, and when the GPU will have done all that was queued
        self.idle = self.events = self.launches = 0

    def launch(self) -> None:
        self.launches += 1
        self.replay([1, 0.0])

    def capture(self, count: int) -> list[float]:
        return [count, 30e-6]  # seconds to load it, once

    def replay(self, graph: list[float]) -> None:
        self.idle += self.now + self.host > self.free
        self.delay(self.pause + graph[0] * self.kernel * random.gauss(1, 0.005) + graph.pop())
        graph.append(0.0)

    def delay(self, seconds: float) -> None:
        self.now += self.host
        self.free = max(self.now, self.free) + seconds

    def record(self) -> float:
        self.events += 1
        self.delay(self.event)
        return self.free

    def elapsed(self, start: float, stop: float) -> float:
        self.wait()
        return stop - start

    def wait(self) -> None:
        self.now = max(self.now, self.free) + 4e-6

    def clock(self) -> float:
        return self.now


def check_kernel_seconds(kernel_seconds: Callable[[MadeUpGpu], Any]) -> str:
    """Judge `kernel_seconds(gpu)`: the seconds of a made-up GPU's kernel, within 5 %."""
    for kernel in random.sample((0.8e-6, 1e-6, 2e-6, 3e-6, 5e-6, 12e-6, 40e-6, 500e-6), 8):
        gpu = MadeUpGpu(kernel)
        came = kernel_seconds(gpu)
        if not isinstance(came, float):
            return f"Not yet: it returned {came!r}; expected seconds, a float."
        if not abs(came / kernel - 1) < 0.05:
            why = "The GPU was busy; what else lies between the two events?"
            why = "The GPU pauses between two launches of a stream." if gpu.launches > 2 else why
            why = "The GPU had nothing to do when the kernel came." if gpu.idle else why
            why = why if gpu.events else "Without an event, this is Python's clock."
            return f"Not yet: the kernel takes {kernel * 1e6:.1f} µs, and {came * 1e6:.1f} µs came. {why}"
    return "Right within 5 % on eight made-up GPUs: kernels from 0.8 µs to 0.5 ms, launches up to 15 µs."
