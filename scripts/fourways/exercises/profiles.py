"""The judges of lesson 07's exercises."""

import random
from collections.abc import Callable
from typing import Any

from fourways.exercises.functions import same


def check_sectors(answer: Callable[[list[int]], Any]) -> str:
    """Judge `answer(addresses)`: the number of 32-byte sectors that hold the floats at these addresses, in bytes."""
    steps = (1, 0, -1, 3, 512)  # floats from one lane to the next
    cases = [[4096 + start + 4 * step * lane for lane in range(32)] for start in (0, 12) for step in steps]
    cases += [random.choices(range(0, 4 * reach, 4), k=32) for reach in (100, 10**6)]
    drawn = iter(cases)
    hint = "Number the sectors of the memory, and see which are touched."
    return same(answer, _sectors, lambda: (next(drawn),), len(cases), hint=lambda *_: hint)


def _sectors(addresses: list[int]) -> int:
    return len({address // 32 for address in addresses})


def check_blocks(answer: Callable[[int, int, int], Any]) -> str:
    """Judge `answer(threads, registers, shared_bytes)`: the blocks that a multiprocessor of sm_90 runs at once.

    The rules are those of `cuda_occupancy.h` in CUDA's toolkit. Each of the four limits decides at least once.
    """
    cases = [(32, 16, 0), (256, 16, 4096), (256, 33, 4096), (1024, 128, 0), (128, 32, 14_464), (128, 32, 49_152)]
    for _ in range(34):
        cases.append((32 * random.randint(1, 32), random.randint(16, 128), 128 * random.randint(0, 384)))
    drawn = iter(cases)
    limits: dict[str, int] = {}

    def right(threads: int, registers: int, shared_bytes: int) -> int:
        limits.update(_limits(threads, registers, shared_bytes))
        return min(limits.values())

    def hint(came: Any, expected: int) -> str:
        if not isinstance(came, int | float):
            return ""
        short = next(name for name, most in limits.items() if most == expected)
        return f"The {short} allow no more." if came > expected else "More blocks fit."

    return same(answer, right, lambda: next(drawn), len(cases), hint=hint)


def _limits(threads: int, registers: int, shared_bytes: int) -> dict[str, int]:
    warps = 65_536 // (-(-32 * registers // 256) * 256) // 4 * 4
    limits = {"threads": 2048 // threads, "places for blocks": 32, "registers": 32 * warps // threads}
    return limits | {"bytes of shared memory": 233_472 // (shared_bytes + 1024)}
