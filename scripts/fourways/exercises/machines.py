"""Judges of exercises on made-up machines: queues, clocks, pipelines, and processes that share a file."""

import multiprocessing
import random
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fourways.exercises.functions import Answer, same


def check_two_calls(answer: Answer) -> str:
    """Judge `answer(call, wait)`: the seconds of two calls, each until the work that it queued is done."""

    def seconds(*lengths: float) -> tuple[float, float]:
        left, done = list(lengths), 0.0

        def call() -> None:
            nonlocal done
            done = max(done, time.perf_counter()) + left.pop(0)

        return answer(call, lambda: time.sleep(max(0.0, done - time.perf_counter())))

    return same(seconds, lambda *lengths: lengths, lambda: tuple(random.sample((0.1, 0.2, 0.4), 2)), 3, rtol=0.2)


def check_ask(answer: Answer) -> str:
    """Judge `answer(factor)`, which rebuilds a module with this factor and returns what the new module holds."""
    return same(answer, lambda factor: factor, lambda: (random.randrange(3, 1000),), 2, hint="Built, imported anew?")


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

    def draw() -> tuple[dict[str, float]]:
        return ({"one": (cost := random.uniform(1, 3)), "twin": cost, "long": 2 * cost},)

    return same(shares, lambda costs: [1, 1, 2], draw, 60, rtol=0.15, hint="These are shares of the time of 'one'.")


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
    return same(seconds, lambda kernel: kernel, lambda: (next(kernels),), 8, rtol=0.05, hint=hint)


_STAGES = ("copy in", "compute", "copy out")
_NEEDS = {
    ("compute", "copy in", 0): "runs before its data has come in",
    ("copy out", "compute", 0): "goes out before it is computed",
    ("copy in", "compute", 1): "overwrites x and y before a kernel has read them",
    ("compute", "copy out", 1): "overwrites z before it has gone out",
}
"""A stage, the stage that it waits for, how many uses of its buffers ago, and the fault without the wait."""


def check_shortest(shortest: Answer) -> str:
    """Judge `shortest(chunks, seconds)`: how long a pipeline takes that has a stream for each chunk."""

    def right(chunks: int, seconds: dict[str, int]) -> int:
        return sum(seconds.values()) + (chunks - 1) * max(seconds.values())

    def draw() -> tuple[int, dict[str, int]]:
        return random.randint(2, 40), dict(zip(_STAGES, random.sample(range(1, 50), 3), strict=True))

    return same(shortest, right, draw, rtol=1e-9)


def check_waits(waits: Answer) -> str:
    """Judge `waits(stage, chunk, buffers)`: the tasks (stage, chunk) for which a task must wait."""
    for _ in range(42):
        stage, buffers, chunk = random.choice(_STAGES), random.randrange(1, 7), random.randrange(20)
        came = {tuple(task) for task in waits(stage, chunk, buffers) if task[1] >= 0}
        for (then, first, uses), fault in _NEEDS.items():
            task = first, chunk - uses * buffers
            if then == stage and task[1] >= 0 and task not in came:
                return f"Not yet: with {buffers=}, chunk {chunk} {fault}."
            came -= {task} if then == stage else set()
        if came:
            return f"Not yet: with {buffers=}, {stage} {chunk} need not wait for {came}."
    return "Right for 42 tasks: nothing too early, and no wait too many."


_KERNEL = bytes(range(256)) * 50


def check_get_or_build(get_or_build: Answer) -> str:
    """Judge `get_or_build(file, build)`: it returns a file's bytes, or builds and writes them once for 8 processes."""
    import cloudpickle  # comes with Dask; a notebook's function travels to other processes by its text

    context = multiprocessing.get_context("spawn")
    with TemporaryDirectory() as folder, context.Manager() as manager, context.Pool(8) as pool:
        task = cloudpickle.dumps(get_or_build), Path(folder), manager.Barrier(8)
        try:
            came = pool.starmap_async(_ask, [task] * 8, 1).get(30)
        except Exception as error:  # TimeoutError, if some processes still wait after 30 s
            return f"Not yet: {type(error).__name__}: {error}"
        builds = len(list(Path(folder).glob("build-*")))
    if wrong := [got or b"" for got in came if got not in ("failed", _KERNEL)]:
        return f"Not yet: a process got {len(wrong[0])} of {len(_KERNEL)} bytes: it read before they were written."
    if builds != 2:
        return f"Not yet: {builds} of 8 processes built; expected one, and one more because the first build fails."
    return "Right: one build for 8 processes, even after an error."


def _ask(function: bytes, folder: Path, barrier: Any) -> Any:
    import cloudpickle

    def build() -> bytes:
        time.sleep(0.2)
        is_first = not list(folder.glob("build-*"))
        (folder / f"build-{time.perf_counter_ns()}").touch()
        if is_first:
            raise RuntimeError("the first build fails")
        return _KERNEL

    barrier.wait()
    try:
        return cloudpickle.loads(function)(folder / "kernel.cubin", build)
    except RuntimeError:
        return "failed"
