"""Judges of lesson 00: the clock that waits, and the module that is rebuilt."""

import random
import time

from fourways.exercises.functions import Answer, same


class _Queue:
    """A made-up GPU: each call queues work of the next of `lengths` (seconds), and `wait` sleeps until it is done."""

    def __init__(self, *lengths: float) -> None:
        self.lengths, self.done = list(lengths), 0.0

    def call(self) -> None:
        self.done = max(self.done, time.perf_counter()) + self.lengths.pop(0)

    def wait(self) -> None:
        time.sleep(max(0.0, self.done - time.perf_counter()))


def check_two_calls(answer: Answer) -> str:
    """Judge `answer(call, wait)`: the seconds of two calls, each until the work that it queued is done."""

    def seconds(first: float, second: float) -> tuple[float, float]:
        queue = _Queue(first, second)
        return answer(queue.call, queue.wait)

    def draw() -> tuple[float, ...]:
        return tuple(random.sample((0.06, 0.12, 0.2), 2))

    return same(seconds, lambda *lengths: lengths, draw, 3, 0.2, lambda *_: "In brackets: how long the calls' work is.")


def check_ask(answer: Answer) -> str:
    """Judge `answer(factor)`, which rebuilds a module with this factor and returns what the new module holds."""
    hint = "Was the module rebuilt, and imported by a fresh process?"
    return same(answer, lambda factor: factor, lambda: (random.randrange(3, 1000),), 2, hint=lambda *_: hint)
