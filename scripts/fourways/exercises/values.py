"""Judges of exercises whose answer is a function of values. None needs a GPU."""

import ctypes
import random
import re
from itertools import accumulate, pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np

from fourways import toolchain
from fourways.exercises.functions import Answer, same


def check_passes(answer: Answer) -> str:
    """Judge `answer(numpy, copies, kernel)`: the least n with `copies + n * kernel < n * numpy`, or None."""

    def right(numpy: int, copies: int, kernel: int) -> int | None:
        return copies // (numpy - kernel) + 1 if kernel < numpy else None

    return same(answer, right, lambda: tuple(random.randrange(1, most) for most in (20, 200, 20)), 40)


def check_sectors(answer: Answer) -> str:
    """Judge `answer(addresses)`: the number of 32-byte sectors that hold the elements at these addresses, in bytes."""

    def draw() -> tuple[list[int]]:
        size, step, first = random.choice([1, 4, 16]), random.choice([1, 0, -1, 3, 512]), random.randrange(32, 64)
        return ([size * (first + step * lane) for lane in range(32)],)

    hint = "Number the sectors of the memory, and see which are touched."
    return same(answer, lambda addresses: len({each // 32 for each in addresses}), draw, 40, hint=hint)


def check_repair(answer: Answer) -> str:
    """Judge `answer(idle, size, sectors, warps, rate)`: the first repair that a profile asks for."""

    def right(idle: float, size: int, sectors: int, warps: float, rate: float) -> str:
        if idle > 0.5:
            return "calls"
        return "sectors" if sectors > size else "bytes" if rate >= 0.8 else "warps"

    def draw() -> tuple[float, int, int, float, float]:
        size = random.choice([1, 4, 16, 16])
        sectors, rate = random.choice([(size, 0.9), (size, 0.5), (random.randint(size + 1, 32), 0.2)])
        return random.choice([0.3, 0.7]), size, sectors, random.choice([0.2, 0.4]), rate

    return same(answer, right, draw, 60)


def check_wind(wind: Answer) -> str:
    """Judge `wind(u, v, rows, columns)`: v is 3/4 of the cell and 1/4 of the cell so far up and to the left."""
    import pystencils as ps
    import sympy

    u, v = ps.fields("u, v: float32[2D]")

    def told(assignment: Any) -> str:
        shares = sympy.nsimplify(assignment.rhs).expand().as_coefficients_dict()
        return f"{assignment.lhs} = {' + '.join(sorted(f'{share} {cell}' for cell, share in shares.items()))}"

    def assignment(rows: int, columns: int) -> str:
        return told(wind(u, v, rows, columns))

    def right(rows: int, columns: int) -> str:
        return told(ps.Assignment(v.center(), 3 * u.center() / 4 + u[-rows, -columns] / 4))

    return same(assignment, right, lambda: (random.randrange(5), random.randrange(1, 5)))


def check_declared(declare: Answer) -> str:
    """Judge `declare(function)`: does it tell ctypes the types of `launch_doublify(x, y, n, stream)`?"""
    declare(function := SimpleNamespace(argtypes=None, restype=ctypes.c_int))
    kinds = function.argtypes or [ctypes.c_int] * 4  # as ctypes passes integers if nothing is declared

    def passed(*numbers: int) -> list[int]:
        return [kind(number).value for kind, number in zip(kinds, numbers, strict=True)]

    told = same(passed, lambda *numbers: numbers, lambda: tuple(random.randrange(2**40, 2**41) for _ in range(4)))
    if told.startswith("Right") and function.restype is not ctypes.c_char_p:
        return "Not yet: the function returns a text, or a null pointer; restype says something else."
    return told


def check_refusals(refuse: Answer) -> str:
    """Judge `refuse(x, y)`: does it raise TypeError or ValueError for arrays that no kernel can take, alone?"""
    h, w = random.sample(range(3, 9), 2)
    cpu, fine, gaps = np.zeros((h, w)), _on_gpu((h, w)), _on_gpu((h, w), strides=(8 * w, 8))
    cases = {
        "two arrays without gaps": (fine, _on_gpu((h, w)), "nothing"),
        "x with written-out strides": (_on_gpu((h, w), strides=(4 * w, 4)), fine, "nothing"),
        "x in the CPU's memory": (cpu, fine, "TypeError"),
        "y of float64": (fine, _on_gpu((h, w), typestr="<f8"), "TypeError"),
        "x with gaps": (gaps, fine, "ValueError"),
        "y in Fortran's order": (fine, _on_gpu((h, w), strides=(4, 4 * h)), "ValueError"),
        "y of another shape and the same size": (fine, _on_gpu((w, h)), "ValueError"),
        "a read-only y": (fine, _on_gpu((h, w), data=(2**30, True)), "ValueError"),
    }

    def raised(case: str) -> str:
        try:
            refuse(*cases[case][:2])
        except Exception as error:
            return type(error).__name__
        return "nothing"

    drawn = iter(random.sample(list(cases), len(cases)))
    return same(raised, lambda case: cases[case][2], lambda: (next(drawn),), len(cases))


def _on_gpu(shape: tuple[int, int], **more: object) -> SimpleNamespace:
    about = {"shape": shape, "typestr": "<f4", "data": (2**20, False), "strides": None, "version": 3}
    return SimpleNamespace(__cuda_array_interface__=about | more)


CODES = "sm_75 sm_80 sm_86 sm_90 sm_100f sm_103 sm_120a compute_75 compute_80 compute_90a compute_100f compute_120"
GPUS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"]


def check_pick(pick: Answer) -> str:
    """Judge `pick(held, gpu)`: the code to start on a GPU, machine code first, or None if none held starts."""

    def rank(code: str) -> tuple[bool, int]:
        return code.startswith("sm_"), int(re.sub(r"\D", "", code))

    def best(held: list[str], gpu: str) -> str | None:
        return max((code for code in held if toolchain.runs_on([code], gpu)), key=rank, default=None)

    def draw() -> tuple[list[str], str]:
        return random.sample(CODES.split(), random.randint(1, 4)), random.choice(GPUS)

    hint = "An `a` starts on its own version alone, and an `f` within its major version, even as PTX."
    return same(pick, best, draw, 300, hint=hint)


def check_wheels(wheels: Answer) -> str:
    """Judge `wheels(pythons, cudas, platforms, architectures, stable=None)`: the number of wheels of a release."""

    def count(pythons: list, cudas: list, platforms: list, architectures: list, stable: tuple | None) -> int:
        served = {min(python, stable) if stable else python for python in pythons}
        return len(served) * len({cuda.split(".")[0] for cuda in cudas}) * len(platforms)

    def draw() -> tuple:
        pythons, cudas = [(3, 11), (3, 12), (3, 13), (3, 14)], ["12.8", "12.9", "13.0", "14.1"]
        lists: list[list] = [pythons, cudas, ["linux", "win"], ["75", "90", "120"]]
        return *(random.sample(each, random.randint(1, len(each))) for each in lists), random.choice([None, (3, 12)])

    return same(wheels, count, draw, 100)


def check_exchange(exchange: Answer) -> str:
    """Judge `exchange(strips)`, which fills the halos of 1 to 5 strips in place. Each row holds its number."""

    def cut(heights: list[int]) -> list[np.ndarray]:
        plate = np.arange(sum(heights))[:, None] + np.zeros((1, 4), np.float32)
        ends = zip(heights, accumulate(heights), strict=True)
        return [plate[max(0, end - rows - 1) : end + 1].copy() for rows, end in ends]

    def rows_after(heights: list[int]) -> np.ndarray:
        strips = cut(heights)
        for upper, lower in pairwise(strips):
            upper[-1] = lower[0] = np.nan
        exchange(strips)
        return np.concatenate(strips).mean(axis=1)

    def right(heights: list[int]) -> np.ndarray:
        return np.concatenate(cut(heights)).mean(axis=1)

    hint = "nan is an old halo, and a number that of a row of the plate."
    return same(rows_after, right, lambda: (random.choices([2, 3, 4], k=random.randint(1, 5)),), hint=hint)


def check_linear(answer: Answer) -> str:
    """Judge `answer(values, x)`: a texture with linear filter and clamping, at x; element i lies at i + 0.5."""

    def draw() -> tuple[np.ndarray, float]:
        return np.array(random.sample(range(1, 100), 6), np.float32), random.randrange(-8, 32) / 4

    return same(answer, lambda values, x: np.interp(x - 0.5, range(len(values)), values), draw, 40, rtol=1e-5)


def check_suspects(answer: Answer) -> str:
    """Judge `answer(steps, raised)`: the numbers of the launches that may have caused what step `raised` reports."""

    def right(steps: list[str], raised: int) -> list[int]:
        cleared = max((number for number in range(raised) if steps[number] == "wait"), default=-1)
        return [number for number in range(cleared + 1, raised) if steps[number] == "launch"]

    def draw() -> tuple[list[str], int]:
        return [*random.choices(["launch", "launch", "host", "wait"], k=7), "launch", "wait", "wait"], 8

    return same(answer, right, draw)


def check_break_even(break_even: Answer) -> str:
    """Judge `break_even(a, b, kernel)`: the least number of launches with which `b` takes no longer, or None.

    `a` and `b` have a `start` and a `launch`; all times are whole microseconds.
    """

    def right(a: dict[str, int], b: dict[str, int], kernel: int) -> int | None:
        saved = max(a["launch"], kernel) - max(b["launch"], kernel)
        return -(-(b["start"] - a["start"]) // saved) if saved > 0 else None

    def draw() -> tuple[Any, ...]:
        start, behind = random.randrange(400_000, 900_000), random.randrange(1, 300_000)
        a = {"start": start, "launch": random.randrange(3, 16)}
        return a, {"start": start + behind, "launch": random.randrange(3, 16)}, random.choice([2, 5, 9, 30])

    return same(break_even, right, draw, 100)


def check_total_with_reads(total_with_reads: Answer) -> str:
    """Judge `total_with_reads(start, batches, size, launch, kernel, read)`, where each batch ends with a read."""

    def right(start: int, batches: int, size: int, launch: int, kernel: int, read: int) -> int:
        return start + batches * (launch + kernel + (size - 1) * max(launch, kernel) + read)

    def draw() -> tuple[int, ...]:
        launch, kernel, read = random.sample(range(2, 40), 3)
        return random.randrange(400_000, 900_000), random.randint(2, 50), random.randint(1, 9), launch, kernel, read

    return same(total_with_reads, right, draw, 100, rtol=1e-12)
