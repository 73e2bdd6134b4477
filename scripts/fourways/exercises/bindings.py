"""The judges of lesson 12: are a C function's types declared, and are wrong arrays refused? No GPU."""

import ctypes
import random
from types import SimpleNamespace

import numpy as np

from fourways.exercises.functions import Answer, same


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
    """Judge `refuse(x, y)`: does it raise TypeError or ValueError where a kernel cannot take the arrays, and only then?

    The arrays only say what arrays of a GPU would say.
    """
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
