"""The judges of lesson 07's exercises."""

import random

from fourways.exercises.functions import Answer, same

HINTS = {
    "calls": "While the GPU waits for the host, no repair of the kernel helps.",
    "sectors": "As many sectors as the type has bytes would do.",
    "warps": "DRAM could deliver more, but few warps ask for it.",
    "bytes": "DRAM is busy already, so more warps gain nothing.",
}


def check_sectors(answer: Answer) -> str:
    """Judge `answer(addresses)`: the number of 32-byte sectors that hold the elements at these addresses, in bytes."""

    def draw() -> tuple[list[int]]:
        size, step, first = random.choice([1, 4, 16]), random.choice([1, 0, -1, 3, 512]), random.randrange(32, 64)
        return ([size * (first + step * lane) for lane in range(32)],)

    hint = "Number the sectors of the memory, and see which are touched."
    return same(answer, lambda addresses: len({each // 32 for each in addresses}), draw, 40, hint=lambda *_: hint)


def check_repair(answer: Answer) -> str:
    """Judge `answer(idle, size, sectors, warps, rate)`: the first repair that a profile asks for."""

    def right(idle: float, size: int, sectors: int, warps: float, rate: float) -> str:
        if idle > 0.5:
            return "calls"
        return "sectors" if sectors > size else "bytes" if rate >= 0.8 else "warps"

    def draw() -> tuple[float, int, int, float, float]:
        size = random.choice([1, 4, 16])
        sectors, rate = random.choice([(size, 0.9), (size, 0.5), (random.randint(size + 1, 32), 0.2)])
        return random.choice([0.1, 0.3, 0.7]), size, sectors, random.choice([0.2, 0.4]), rate

    return same(answer, right, draw, 40, hint=lambda came, expected: HINTS[expected])
