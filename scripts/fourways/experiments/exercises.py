"""Judges of exercises that compute no array. Each returns "Right …", or "Not yet: …" and what is wrong first."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fourways import checking
from fourways.experiments import choosing

_FAR = 10**12  # launches: more than any break-even of the judge's pairs


def check_break_even(function: Callable[[choosing.Cost, choosing.Cost, float], Any]) -> str:
    """Judge `function(a, b, kernel)`: the least number of launches from which on `b` takes no longer than `a`, or None.

    `a` starts sooner. The function is tried on 30 pairs of random costs and on two exact ties.
    """
    numbers = np.random.default_rng(14)
    # b catches up after 2**16 launches, without a rest, and after 2**20
    cases = [((0.25, 0.5), (2**-17, 2**-18), 2**-19), ((0.25, 0.5), (2**-18 + 2**-22, 2**-18), 2**-19)]
    for kernel in (1e-6, 30e-6, 8e-6) * 10:
        low, high = sorted(numbers.uniform(0.2, 1, 2))
        slow, fast = numbers.uniform(4e-6, 12e-6, 2)
        cases.append(((low, high), (slow, fast), kernel))
    for starts, launches, kernel in cases:
        a, b = (
            choosing.Cost(name, {"start": 0.1, "import": start - 0.1}, start, start, launch)
            for name, start, launch in zip("ab", starts, launches, strict=True)
        )
        case = f"starts {a.start:.2f} and {b.start:.2f} s, launches {a.launch * 1e6:.1f} and {b.launch * 1e6:.1f} µs, "
        case += f"a kernel of {kernel * 1e6:.0f} µs"
        answer, never = function(a, b, kernel), _is_behind(a, b, kernel, _FAR)
        number = checking.as_float(answer) or 0
        far = number > _FAR
        if abs(number) > _FAR:
            came = f"a number {'beyond ' if far else 'below -'}{_FAR:,}"
        else:
            came = f"{answer:,}" if checking.is_whole(answer) else repr(answer)
        if (answer is None) != never:
            hint = " So large a number comes from rounding: take no difference of totals." if far else ""
            return f"Not yet: {came} for {case}; b {'never wins' if never else 'wins'}.{hint}"
        if answer is None:
            continue
        if not checking.is_whole(answer):
            return f"Not yet: {came} came; wanted is a whole number of launches, as an int."
        if far or number < 0 or _is_behind(a, b, kernel, answer) or not _is_behind(a, b, kernel, answer - 1):
            return f"Not yet: {came} for {case}; compare the totals there."
    return f"Right for {len(cases)} pairs of ways and kernels."


def _is_behind(a: choosing.Cost, b: choosing.Cost, kernel: float, launches: int) -> bool:
    return b.total(launches, kernel) > a.total(launches, kernel)


def check_wheels(function: Callable[..., Any]) -> str:
    """Judge `function(pythons, cudas, platforms, architectures, stable=None)`: the number of wheels of a release."""
    pythons, cudas = [(3, 11), (3, 12), (3, 13)], ["12.8", "12.9", "13.0"]
    rest = (["x86_64", "aarch64"], ["75", "90", "100"])
    count = function(pythons, cudas, *rest)
    if not checking.is_whole(count):
        return "Not yet: wanted a number; one for each combination that needs its own file."
    if count and count % 9 == 0:
        return "Not yet: a wheel for each architecture, or minor CUDA? One serves several."
    if count != 12:
        return f"Not yet: {count} is not the number of wheels for three Pythons."
    cases = (
        (pythons, (3, 12), "which Pythons share a wheel, which do not?"),
        ([(3, 11)], (3, 12), "who needs the wheel for 3.12 and newer?"),
        ([(3, 11), (3, 13)], (3, 12), "which wheel does the newer Python take?"),
        ([(3, 12), (3, 13)], (3, 11), "which Pythons share a wheel?"),
    )
    for available, stable, question in cases:
        for places in (rest[0], ["x86_64", "aarch64", "win"]):
            count = function(available, cudas, places, rest[1], stable=stable)
            # the Pythons before `stable` have a wheel each, all others share one
            wheels = (sum(python < stable for python in available) + any(python >= stable for python in available)) * 2
            if count != wheels * len(places):
                names = ", ".join(f"{major}.{minor}" for major, minor in available)
                case = f"Python {names} and {len(places)} platforms with `stable` {stable}"
                return f"Not yet: {count} for {case}; {question}"
    older = function([(3, 9), *pythons], ["12.8", "13.0", "14.1"], *rest, stable=(3, 12))
    if older != 18:
        return f"Not yet: {older} with Python 3.9 as well, and three major versions of CUDA."
    if (apart := function(pythons, ["12.8", "14.1"], *rest)) != 12:
        return f"Not yet: {apart} with CUDA 12 and 14, and none between."
    if (more := function(pythons, cudas, rest[0], ["75", "80", "86", "89", "90", "100"])) != 12:
        return f"Not yet: {more} with six architectures."
    return "Right, with and without the stable ABI."
