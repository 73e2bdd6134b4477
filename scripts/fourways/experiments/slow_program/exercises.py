"""The judges of lesson 07's exercises."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fourways import checking


def check_sectors(function: Callable[[list[int]], Any]) -> str:
    """Judge `function(addresses)`: the number of 32-byte sectors that hold the floats at these addresses, in bytes.

    It is tried on a warp's row, a row that begins inside a sector, a column, one float for all, and random floats.
    """
    numbers = np.random.default_rng()
    start = 32 * int(numbers.integers(100, 1000))
    far = [int(4 * place) for place in numbers.integers(0, 10**6, 32)]
    near = [int(4 * place) for place in numbers.permutation(200)[:32]]
    cases = {
        "a row that begins with a sector": [start + 4 * lane for lane in range(32)],
        "a column of a matrix with 512 columns": [start + 4 * 512 * lane for lane in range(32)],
        "a row that begins inside a sector": [start + 12 + 4 * lane for lane in range(32)],
        "every third float of a row": [start + 12 * lane for lane in range(32)],
        "the same float for all lanes": [start + 8] * 32,
        "a row from right to left": [start + 4 * lane for lane in reversed(range(32))],
        "random floats, far apart": far,
        "random floats, close together": near,
    }
    for case, addresses in cases.items():
        answer = function(list(addresses))
        if not checking.is_whole(answer):
            return f"Not yet: {case}: {answer!r} is not a whole number of sectors."
        if answer != len({address // 32 for address in addresses}):
            return f"Not yet: {case}: {answer} sectors? Number the sectors of the memory, and see which are touched."
    return f"Right for {len(cases)} warps."


def check_blocks(function: Callable[[int, int, int], Any]) -> str:
    """Judge `function(threads, registers, shared_bytes)`: the blocks that a multiprocessor of sm_90 runs at once.

    `registers` are those of a thread, 16 to 128, and `shared_bytes` is what a block declares. The limits are 2,048
    threads, 32 blocks, 65,536 registers in one pool, and 228 KB of shared memory with 1 KB more for each block. The
    function is tried where each of the four limits decides, and on random blocks.
    """
    numbers = np.random.default_rng()
    cases = [(128, 32, 512), (128, 32, 49_152), (32, 16, 0), (256, 128, 4096), (1024, 32, 0), (384, 32, 20_000)]
    cases += [(128, 32, 13_568), (128, 32, 13_569), (128, 32, 8192), (1024, 128, 0)]  # of the last no block fits
    for _ in range(39):
        threads, registers = 32 * int(numbers.integers(1, 33)), 16 * int(2 ** numbers.integers(0, 4))
        cases.append((threads, registers, 128 * int(numbers.integers(0, 385))))
    for threads, registers, shared_bytes in cases:
        case = f"{threads} threads, {registers} registers each, {shared_bytes:,} bytes"
        answer = function(threads, registers, shared_bytes)
        if not checking.is_whole(answer):
            return f"Not yet: {case}: {answer!r} is not a whole number of blocks."
        limits = {
            "there are too many threads": 2048 // threads,
            "there are too many blocks": 32,
            "there are too many registers": 65_536 // (threads * registers),
            "the shared memory is too small": 228 * 1024 // (shared_bytes + 1024),
        }
        fits = min(limits.values())
        if answer > fits:
            short = next(name for name, limit in limits.items() if limit < answer)
            return f"Not yet: {case}: with {answer} blocks {short}."
        if answer < fits:
            return f"Not yet: {case}: more than {answer} blocks fit."
    return f"Right for {len(cases)} kinds of blocks."
