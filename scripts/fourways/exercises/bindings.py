"""The judges of lesson 12: are a C function's types declared, and are wrong arrays refused? No GPU."""

import ctypes
import itertools
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np


def check_declared(declare: Callable[[Any], Any]) -> str:
    """Judge `declare(function)`: does it tell ctypes the types of `launch_doublify(x, y, n, stream)`?"""
    declare(function := SimpleNamespace(argtypes=None, restype=ctypes.c_int))
    kinds, result = list(function.argtypes or ()), function.restype
    if not kinds:
        if result is ctypes.c_int:
            return "Not yet: nothing is declared, neither the types of the arguments nor that of the result."
        return "Not yet: argtypes says nothing, so ctypes passes integers of 32 bits, which hold no address."
    if len(kinds) != 4:
        return f"Not yet: argtypes has {len(kinds)} types; the function has four parameters."
    bits, many = 2**40 + random.randrange(2**32), 2**40 + random.randrange(2**32)
    for name, kind, value in zip(("x", "y", "n", "stream"), kinds, (8 * bits, 8 * bits, many, bits), strict=True):
        try:
            came = kind(value).value
        except (TypeError, AttributeError):
            return f"Not yet: {name} comes as a Python integer, and {kind.__name__} takes none."
        if type(came) is not int or came != value:
            return f"Not yet: {name} was {value}, and {kind.__name__} passed {came}."
    if result is not ctypes.c_char_p:
        told = getattr(result, "__name__", result)
        return f"Not yet: the result is declared as {told}; the function returns a text, or a null pointer."
    return "Right: addresses and numbers of 64 bits arrive whole, and an error comes back as text."


def check_refusals(refuse: Callable[[Any, Any], Any]) -> str:
    """Judge `refuse(x, y)`: does it raise TypeError or ValueError where a kernel cannot take the arrays, and only then?

    The arrays only say what arrays of a GPU would say.
    """
    for dimensions in (2, 1, 3):
        shape = tuple(random.sample(range(3, 9), dimensions))
        for what, (x, y, wanted) in _cases(shape).items():
            came = None
            try:
                refuse(x, y)
            except Exception as error:
                came = type(error)
            if came is not wanted:
                did, should = (f"raises {each.__name__}" if each else "passes" for each in (came, wanted))
                return f"Not yet: {what} (shape {shape}); your function {did}. Expected: it {should}."
    return "Right: every pair passed or was refused as it should, with arrays of one, two and three dimensions."


def _cases(shape: tuple[int, ...]) -> dict[str, tuple[Any, Any, type[Exception] | None]]:
    """Return pairs of arrays by name, each with the exception that they deserve."""
    addresses = itertools.count(2**20, 2**20)

    def told(array: Any, read_only: bool = False, whole: bool = False) -> Any:
        strides = None if array.flags.c_contiguous and not whole else array.strides
        about = {"shape": array.shape, "typestr": array.dtype.str, "strides": strides, "version": 3}
        return SimpleNamespace(__cuda_array_interface__=about | {"data": (next(addresses), read_only)})

    plain, wide = np.zeros(shape, "f4"), np.zeros((*shape[:-1], 2 * shape[-1]), "f4")
    fine, bare = told(plain), told(plain)
    del bare.__cuda_array_interface__["strides"]  # as the protocol allows
    either: dict[str, Any] = {
        "in the CPU's memory": (plain, TypeError),
        "of float64": (told(plain.astype("f8")), TypeError),
    }
    either |= {"of int32": (told(plain.astype("i4")), TypeError), "with gaps": (told(wide[..., ::2]), ValueError)}
    either["in the other byte order"] = (told(plain.astype(">f4")), TypeError)
    either["that runs backwards"] = (told(plain[::-1]), ValueError)
    either |= {"with written-out strides": (told(plain, whole=True), None), "without the entry strides": (bare, None)}
    if len(shape) > 1:
        either["in Fortran's order"] = (told(np.zeros(shape, "f4", "F")), ValueError)
        either["with gaps between its rows only"] = (told(wide[..., : shape[-1]]), ValueError)
    cases: dict[str, Any] = {"two arrays without gaps": (fine, told(plain), None)}
    for what, (array, wanted) in either.items():
        cases |= {f"x is an array {what}": (array, fine, wanted), f"y is an array {what}": (fine, array, wanted)}
    cases["y has another shape and the same size"] = fine, told(plain.reshape(1, *shape)), ValueError
    cases["y is read-only"] = fine, told(plain, read_only=True), ValueError
    cases["x is read-only"] = told(plain, read_only=True), fine, None
    return cases
