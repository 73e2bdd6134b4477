"""The judges of lesson 06's exercises, and the made-up machines on which they try an answer."""

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fourways import checking, tables


class Machine:
    """A made-up machine with a clock of its own, in seconds.

    Each call takes `1 + drift` times as long as the call before. `odd[name, number]` is the factor by which the call of
    `name` with this number, from 0, takes longer than usual; below 1 it is faster.
    """

    def __init__(self, drift: float = 0.0, odd: Mapping[tuple[str, int], float] | None = None) -> None:
        self._now, self._drift, self._odd = 0.0, drift, dict(odd or {})
        self.calls: list[str] = []

    def clock(self) -> float:
        """Return the machine's time."""
        return self._now

    def work(self, name: str, seconds: float) -> None:
        """Work for about `seconds`, and note `name` in `calls`."""
        factor = self._odd.get((name, self.calls.count(name)), 1.0)
        self._now += factor * seconds * (1 + self._drift) ** len(self.calls)
        self.calls.append(name)


def _machines(names: Sequence[str], rounds: int) -> Iterator[tuple[str, Machine]]:
    """Yield machines and what they do: of `rounds` calls, the last three slow down at most a fifth and hurry one.

    Each call has slow samples of its own number, so that the order of the calls does not matter.
    """
    random = np.random.default_rng(rounds)
    yield "a steady machine", Machine()
    yield "a machine that slows down", Machine(drift=0.005)
    for always in (0, rounds // 2, rounds - 1):
        odd: dict[tuple[str, int], float] = {}
        for name in names:
            others = random.permutation([number for number in range(rounds) if number != always]).tolist()
            slow = [always, *others[: random.integers(1, rounds // 5)]]
            odd |= {(name, number): random.uniform(5, 20) for number in slow}
            odd[name, others[-1]] = random.uniform(0.3, 0.8)
        yield "a machine that stumbles", Machine(odd=odd)


def check_fair(fair: Any) -> str:
    """Judge `fair(calls, rounds, clock)`: it times each of `calls`, a dictionary of functions, `rounds` times.

    It returns seconds by name. It is tried on made-up machines, with two equal calls and others of random length.
    """
    random = np.random.default_rng(7)
    for rounds in (21, 15):
        names = ("other", "one", "twin", "long")
        for what, machine in _machines(names, rounds):
            costs = dict(zip(names, (*random.uniform(1.1, 3, 3), 0), strict=True))
            costs["twin"], costs["long"] = costs["one"], random.uniform(4, 5)
            calls = {name: functools.partial(machine.work, name, cost) for name, cost in costs.items()}
            times = fair(calls, rounds, machine.clock)
            if not isinstance(times, dict) or set(times) != set(costs):
                return f"Not yet: it returned {times!r}; wanted a dictionary with the names {', '.join(costs)}."
            for name in costs:
                if (called := machine.calls.count(name)) < rounds:
                    return f"Not yet: {name!r} was called {called} of {rounds} times."
                number = checking.as_float(times[name])
                if number is None or not 0 < number < math.inf:
                    came = times[name] if number is None else number
                    return f"Not yet: wanted are the seconds of {name!r}, above 0; {came!r:.60} came."
            for name, cost in costs.items():
                ratio, right = times[name] / times["one"], cost / costs["one"]
                if not abs(ratio / right - 1) < 0.025:
                    told = "takes as long as" if name == "twin" else f"takes {right:.2f} times as long as"
                    hint = "when was each of them called?" if "slows" in what else "what do a few odd samples do?"
                    return f"Not yet: on {what} {name!r} {told} 'one', and you say {ratio:.2f} times; {hint}"
            if not 0.9 < times["one"] / costs["one"] < 1.6:
                return f"Not yet: on {what} 'one' takes about {costs['one']:.2f} s, and you say {times['one']:.2f} s."
    return "Right: equal calls come out equal, on machines that slow down and machines that stumble."


class MadeUpGpu:
    """A made-up GPU with one stream, and its host; all times are in seconds.

    `launch()` queues the kernel, `delay(seconds)` queues work that takes so long, and `record()` queues an event and
    returns it. These return before the GPU has done the work. `wait()` waits for all of it, `elapsed(start, stop)` does
    so, too, and returns the time between two events. `clock()` is the host's clock.
    The first launch compiles. The kernel's time varies by about 1 %.
    """

    def __init__(self, kernel: float, host: float, event: float, gap: float, seed: int) -> None:
        self._kernel, self._host, self._event, self._gap = kernel, host, event, gap
        self._random = np.random.default_rng(seed)
        self._now = self._free = 0.0
        self._after_a_kernel = False
        self.launches = self.idle = self.events = 0

    def clock(self) -> float:
        """Return the host's time."""
        return self._now

    def launch(self) -> None:
        """Queue the kernel."""
        if not self.launches:
            self._now += 0.05  # it compiles
        self.launches += 1
        self.idle += self._now + self._host > self._free
        begin_and_end = 0.0 if self._after_a_kernel else self._gap
        self._queue(self._host, begin_and_end + self._kernel * self._random.normal(1, 0.01))
        self._after_a_kernel = True

    def delay(self, seconds: float) -> None:
        """Queue work that takes so long."""
        self._queue(self._host, seconds)
        self._after_a_kernel = False

    def record(self) -> float:
        """Queue an event and return it."""
        self.events += 1
        self._queue(self._host / 4, self._event)
        self._after_a_kernel = False
        return self._free

    def wait(self) -> None:
        """Wait until the GPU has done all that was queued."""
        self._now = max(self._now, self._free) + 4e-6

    def elapsed(self, start: float, stop: float) -> float:
        """Wait for the GPU, and return the time from the event `start` to the event `stop`."""
        self.wait()
        return stop - start

    def _queue(self, host: float, device: float) -> None:
        self._now += host
        self._free = max(self._now, self._free) + device


def check_kernel_seconds(kernel_seconds: Any) -> str:
    """Judge `kernel_seconds(gpu)`: the seconds of a made-up GPU's kernel, within 3 %.

    Eight GPUs are tried, each of them five times, because one time may be right by chance.
    """
    random = np.random.default_rng(11)
    for number, kernel in enumerate((2e-6, 40e-6, 1e-6, 0.9e-3, 5e-6, 1.3e-6, 12e-6, 3e-6), 1):
        kernel *= random.uniform(0.9, 1.1)
        host, event, gap = random.uniform((4e-6, 0.5e-6, 0.4e-6), (15e-6, 2.5e-6, 1.2e-6))
        ratios: list[float] = []
        for again in range(5):
            gpu = MadeUpGpu(kernel, host, event, gap, seed=number + 100 * again)
            seconds = kernel_seconds(gpu)
            if not isinstance(seconds, float | np.floating):
                return f"Not yet: it returned {seconds!r}; wanted seconds, a float."
            if not gpu.launches:
                return f"Not yet: {tables.seconds(float(seconds))} for GPU {number}, but its kernel was never launched."
            ratios.append(float(seconds) / kernel)
        if problem := _off(ratios, gpu):
            return f"Not yet: GPU {number}: {problem}."
    return "Right within 3 % on eight made-up GPUs: kernels from 1 µs to 0.9 ms, launches up to 15 µs."


def _off(ratios: Sequence[float], gpu: MadeUpGpu) -> str | None:
    """Return what is wrong with times of one GPU's kernel, as multiples of the right one; `gpu` was timed last."""
    wrong = [ratio for ratio in ratios if not abs(ratio - 1) < 0.03]
    if not wrong:
        return None
    much = f"your time is {wrong[0]:.2f} times the kernel's"
    if not gpu.events:
        return f"{much}; you recorded no event, so this is the host's clock"
    if gpu.idle > 1:
        return f"{much}; at {gpu.idle} of {gpu.launches} launches the GPU had nothing to do"
    if abs(np.mean(ratios) - 1) < 0.02:
        return f"{much}, and right on average; what makes it vary less from one try to the next?"
    return f"{much}; the GPU was always busy, so what else lies between the two events?"
