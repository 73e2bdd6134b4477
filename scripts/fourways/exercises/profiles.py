"""The judges of lesson 07's exercises."""

import random
from collections.abc import Callable
from typing import Any

from fourways.exercises.functions import same

HINTS = {
    "calls": "While the GPU waits for the host, no repair of the kernel helps.",
    "sectors": "As many sectors as the type has bytes would do.",
    "warps": "DRAM could deliver more, but few warps ask for it.",
    "bytes": "DRAM is busy already, so more warps gain nothing.",
}


def check_sectors(answer: Callable[[list[int]], Any]) -> str:
    """Judge `answer(addresses)`: the number of 32-byte sectors that hold the elements at these addresses, in bytes."""
    steps = (1, 0, -1, 3, 512)  # floats from one lane to the next
    cases = [[4096 + start + 4 * step * lane for lane in range(32)] for start in (0, 12) for step in steps]
    for size in (1, 4, 16):
        cases.append([4096 + size * lane for lane in range(32)])
        cases += [random.choices(range(0, size * reach, size), k=32) for reach in (100, 10**6)]
    drawn = iter(cases)
    hint = "Number the sectors of the memory, and see which are touched."
    return same(answer, _sectors, lambda: (next(drawn),), len(cases), hint=lambda *_: hint)


def _sectors(addresses: list[int]) -> int:
    return len({address // 32 for address in addresses})


def check_repair(answer: Callable[[float, int, int, float, float], Any]) -> str:
    """Judge `answer(idle, size, sectors, warps, rate)`: the first repair that a profile asks for."""
    drawn = iter(random.sample(10 * list(HINTS), 10 * len(HINTS)))
    due = ""

    def draw() -> tuple[float, int, int, float, float]:
        nonlocal due
        due, size, lot = next(drawn), random.choice((1, 4, 16)), random.random() < 0.5
        idle = _share(0.6, 0.95) if due == "calls" else _share(0, 0.3)
        side_by_side = due in ("warps", "bytes") or (due == "calls" and lot)
        sectors = size if side_by_side else random.randint(size + 1, 32)
        warps = _share(0.1, 0.4) if due == "warps" or lot else _share(0.6, 1)
        return idle, size, sectors, warps, _share(0.8, 0.95) if due == "bytes" else _share(0.1, 0.6)

    def hint(came: Any, expected: str) -> str:
        return HINTS["sectors" if came == "sectors" and expected != "calls" else expected]

    return same(answer, lambda *_: due, draw, 10 * len(HINTS), hint=hint)


def _share(low: float, high: float) -> float:
    return round(random.uniform(low, high), 2)
