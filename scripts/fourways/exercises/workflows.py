"""Judges of lesson 00: the clock that waits, and the module that is rebuilt."""

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from fourways.exercises.functions import same


class _Queue:
    """A made-up GPU: each call queues work of the next of `lengths` (seconds), and `wait` sleeps until it is done."""

    def __init__(self, lengths: Sequence[float]) -> None:
        self.lengths, self.calls, self.done = lengths, 0, 0.0

    def call(self) -> None:
        self.done = max(self.done, time.perf_counter()) + self.lengths[self.calls % 2]
        self.calls += 1

    def wait(self) -> None:
        time.sleep(max(0.0, self.done - time.perf_counter()))


def check_two_calls(answer: Callable[[Callable[[], None], Callable[[], None]], Any]) -> str:
    """Judge `answer(call, wait)`: the seconds of two calls, each until the work that it queued is done."""
    for _ in range(3):
        queue = _Queue(random.sample((0.03, 0.06, 0.1), 2))
        answered = answer(queue.call, queue.wait)
        if queue.calls != 2:
            return f"Not yet: the function called {queue.calls} times; two calls are wanted."
        try:
            first, second = map(float, answered)
        except (TypeError, ValueError):
            return f"Not yet: {answered!r} came; wanted are two numbers, the seconds of each call."
        for name, told, length in (("first", first, queue.lengths[0]), ("second", second, queue.lengths[1])):
            if not abs(told - length) <= 0.01:  # which NaN fulfils neither
                return f"Not yet: the {name} call's work took {length:.3f} s, and the function says {told:.3f} s."
    return "Right for six calls of different lengths."


def check_ask(answer: Callable[[int], Any]) -> str:
    """Judge `answer(factor)`, which rebuilds a module with this factor and returns what the new module holds."""
    hint = "Was the module rebuilt, and imported by a fresh process?"
    return same(answer, lambda factor: factor, lambda: (random.randrange(3, 1000),), 2, hint=lambda *_: hint)
