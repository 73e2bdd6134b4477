"""The judges of lesson 06: is a comparison fair, and how long does the kernel of a made-up GPU take?"""

import random
from functools import partial

from fourways.exercises.functions import Answer, same


def check_fair(fair: Answer, rounds: int = 15) -> str:
    """Judge `fair(calls, rounds, clock)`: it times each of `calls`, by name, `rounds` times, and returns seconds."""

    def shares(costs: dict[str, float]) -> list[float]:
        now, made, slow = 0.0, list[str](), random.sample(range(rounds), rounds // 5)

        def call(name: str) -> None:
            nonlocal now
            stumbles = made.count(name) % rounds in slow
            now += costs[name] * 1.02 ** len(made) * (random.uniform(5, 20) if stumbles else 1)
            made.append(name)

        times = fair({name: partial(call, name) for name in costs}, rounds, lambda: now)
        return [times[name] / times["one"] for name in costs]

    def right(costs: dict[str, float]) -> list[float]:
        return [cost / costs["one"] for cost in costs.values()]

    def draw() -> tuple[dict[str, float]]:
        return ({"one": (cost := random.uniform(1, 3)), "twin": cost, "long": 2 * cost},)

    return same(shares, right, draw, rtol=0.15, hint=lambda *_: "The numbers are shares of the time of 'one'.")


class MadeUpGpu:
    """A made-up GPU with one stream, and its host; times are in seconds. Lesson 06 says what the methods do."""

    def __init__(self, kernel: float) -> None:
        self.kernel, self.host = kernel, random.uniform(4e-6, 15e-6)  # the host's time to queue something
        self.event, self.pause = random.uniform(0.5e-6, 2e-6), random.uniform(0.5e-6, 1e-6)
        self.now = self.free = 0.0  # the time, and when the GPU will have done all that was queued

    def launch(self) -> None:
        self.delay(self.pause + self.kernel)

    def capture(self, count: int) -> list[float]:
        return [count * self.kernel, 30e-6]  # the kernels, and loading the graph

    def replay(self, graph: list[float]) -> None:
        self.delay(self.pause + sum(graph))
        graph[1:] = []

    def delay(self, seconds: float) -> None:
        self.now += self.host
        self.free = max(self.now, self.free) + seconds

    def record(self) -> float:
        self.delay(self.event)
        return self.free

    def elapsed(self, start: float, stop: float) -> float:
        self.wait()
        return stop - start

    def wait(self) -> None:
        self.now = max(self.now, self.free) + 4e-6

    def clock(self) -> float:
        return self.now


def check_kernel_seconds(kernel_seconds: Answer) -> str:
    """Judge `kernel_seconds(gpu)`: the seconds of a made-up GPU's kernel, within 5 %."""

    def seconds(kernel: float) -> float:
        return kernel_seconds(MadeUpGpu(kernel))

    kernels = iter(random.sample((0.8e-6, 1e-6, 2e-6, 3e-6, 5e-6, 12e-6, 40e-6, 500e-6), 8))
    hint = "Was the GPU busy when the kernel came, and what else lies between the two events?"
    return same(seconds, lambda kernel: kernel, lambda: (next(kernels),), 8, rtol=0.05, hint=lambda *_: hint)
