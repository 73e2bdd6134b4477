"""The judges of lesson 12's exercises. They need a C++ compiler, but no GPU."""

import ctypes
import itertools
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np

from fourways import checking, toolchain

_ON_CPU = r"""
extern "C" const char *launch_doublify(const float *x, float *y, long long n, void *stream)
{
    if (n < 0) return "n is negative";
    if (stream) return "this function has no streams";
    for (long long i = 0; i < n; ++i) y[i] = 2 * x[i];
    return nullptr;
}
"""


def check_declared(declare: Callable[[Any], Any]) -> str:
    """Judge `declare(function)`, which tells ctypes the types of `launch_doublify(x, y, n, stream)`.

    The function works on the CPU. It is called with random arrays, with a negative n, and with a stream, for both of
    which it returns a message.
    """
    with TemporaryDirectory() as folder:
        source, library = Path(folder, "on_cpu.cpp"), Path(folder, "on_cpu.so")
        source.write_text(_ON_CPU)
        compiler = toolchain.host_compiler()
        subprocess.run([str(compiler), "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        function = ctypes.CDLL(str(library)).launch_doublify
        try:
            declare(function)
            kinds = list(function.argtypes or ())
            return _undeclared(kinds, function) or _called(function)
        except Exception as error:
            return checking.not_yet(error)


def _undeclared(kinds: list[Any], function: Any) -> str | None:
    """Return what is wrong with the declared types, so that calling the function would not be safe; or None."""
    if not kinds:
        return (
            "Not yet: nothing is declared, neither the types of the arguments nor that of the result."
            if function.restype is ctypes.c_int
            else "Not yet: without argtypes a Python integer becomes an int of 32 bits, which holds no address."
        )
    if len(kinds) != 4:
        return f"Not yet: argtypes has {len(kinds)} types, and the function has four parameters."
    if function.restype is not None and not hasattr(function.restype, "from_param"):  # no type of ctypes
        return "Not yet: a Python function as restype gets an int of 32 bits, which is half of the text's address."
    if function.errcheck:
        return "Not yet: errcheck changes the results. Declare types only; the judge wants the text itself."
    if getattr(function.restype, "_type_", None) == "O":
        return "Not yet: the result is declared as py_object, and the function makes no Python object."
    for name, kind in zip(("x", "y", "n", "the stream"), kinds, strict=True):
        if hasattr(kind, "contents") or getattr(kind, "_type_", None) in ("z", "Z", "O"):  # reading these would crash
            return f"Not yet: {kind.__name__} takes no integer, and the judge passes {name} as a Python integer."
    for name, kind in zip(("x", "y", "the stream"), (kinds[0], kinds[1], kinds[3]), strict=True):
        if ctypes.sizeof(kind) != 8 or kind(2**63 + 8).value % 2**64 != 2**63 + 8:  # the sign of an int does not matter
            return f"Not yet: {kind.__name__} cannot hold {name}, an address of 64 bits."
    count = kinds[2]
    if getattr(count, "_type_", None) in ("f", "d", "g"):
        return f"Not yet: {count.__name__} is passed as a floating-point number, and n is an integer."
    if ctypes.sizeof(count) != 8 or count(2**40).value != 2**40:
        return f"Not yet: {count.__name__} cannot hold an n of 2**40."
    if count(-1).value != -1:
        return f"Not yet: {count.__name__} makes {count(-1).value} of -1, and a long long has a sign."
    return None


def _called(function: Any) -> str:
    """Call the declared function, and return what is wrong with its answers, or that they are right."""
    for size in np.random.default_rng().integers(1, 10_000, 3):
        x, y = np.random.default_rng().random(size, np.float32), np.full(size, np.nan, np.float32)
        told = function(x.ctypes.data, y.ctypes.data, x.size, 0)
        if told is not None:
            kind = getattr(function.restype, "__name__", function.restype)
            return f"Not yet: a call without an error returned {told!r}; the result is declared as {kind}."
        if not (y == 2 * x).all():
            return f"Not yet: the function did not double {size} numbers."
    messages = {b"n is negative": (0, 0, -1, 0), b"this function has no streams": (0, 0, 0, 64)}
    for message, arguments in messages.items():
        told = function(*arguments)
        if told != message:
            return f"Not yet: a call that must fail returned {told!r}, and its message is lost."
    return "Right: three random arrays were doubled, and two errors came back as text."


def check_refusals(refuse: Callable[[Any, Any], Any]) -> str:
    """Judge `refuse(x, y)`: does it raise TypeError or ValueError for arrays that a kernel cannot take, and only then?

    The arrays only say what arrays of a GPU would say. Their shapes are random.
    """
    number = np.random.default_rng()
    for dimensions in (2, 1, 3):
        shape = tuple(map(int, number.integers(3, 9, dimensions)))
        for what, (x, y, wanted) in _cases(shape).items():
            try:
                refuse(x, y)
                raised = None
            except Exception as error:
                raised = type(error)
            kinds = [kind for kind in (TypeError, ValueError) if raised and issubclass(raised, kind)]
            if kinds != ([wanted] if wanted else []) or bool(raised) != bool(wanted):
                became = f"raises {raised.__name__}" if raised else "passes"
                want = f"should raise {wanted.__name__}" if wanted else "should pass"
                return f"Not yet: {what} {became}, and {want} (shape {shape})."
    return "Right: every call was let through or refused as it should be, with arrays of one, two and three dimensions."


def _cases(shape: tuple[int, ...]) -> dict[str, tuple[Any, Any, type[Exception] | None]]:
    """Return pairs of arrays by name, each with the exception that they deserve. No two arrays overlap."""
    addresses = itertools.count(2**20, 2**20)

    def told(array: Any, read_only: bool = False, explicit: bool = False, **changes: Any) -> Any:
        strides = None if array.flags.c_contiguous and not explicit else array.strides
        about = {"shape": array.shape, "typestr": array.dtype.str, "strides": strides, "version": 3}
        return SimpleNamespace(__cuda_array_interface__=about | {"data": (next(addresses), read_only)} | changes)

    plain = np.zeros(shape, np.float32)
    wide = np.zeros((*shape[:-1], 2 * shape[-1]), np.float32)[..., ::2]
    fine, bare, written = told(plain), told(plain), told(plain, explicit=True)
    del bare.__cuda_array_interface__["strides"]  # as the protocol allows
    one_number = np.broadcast_to(np.float32(1), shape)  # its strides are 0
    cases: dict[str, tuple[Any, Any, type[Exception] | None]] = {"two arrays without gaps": (fine, told(plain), None)}

    def either(what: str, array: Any, wanted: type[Exception] | None) -> None:
        cases.update({f"x {what}": (array, fine, wanted), f"y {what}": (fine, array, wanted)})

    either("in the CPU's memory", plain, TypeError)
    either("of float64", told(plain.astype("f8")), TypeError)
    either("of int32", told(plain.astype("i4")), TypeError)
    either("of float32 in the other byte order", told(plain.astype(plain.dtype.newbyteorder())), TypeError)
    either("with gaps", told(wide), ValueError)
    either("with written-out strides, and no gaps", written, None)
    cases |= {
        "y with gaps, while the strides of x are written out": (written, told(wide), ValueError),
        "x with gaps, while the strides of y are written out": (told(wide), written, ValueError),
        "x that runs backwards": (told(plain[..., ::-1]), fine, ValueError),
        "x that repeats one number (strides of 0)": (told(one_number), fine, ValueError),
    }
    either("without the entry strides", bare, None)
    cases |= {
        "y of another shape": (fine, told(np.zeros((*shape[:-1], shape[-1] + 1), np.float32)), ValueError),
        "y of another shape and the same size": (fine, told(plain.reshape(1, *shape)), ValueError),
        "y that is read-only": (fine, told(plain, read_only=True), ValueError),
        "x that is read-only": (told(plain, read_only=True), fine, None),
    }
    if len(shape) > 1:
        either("in Fortran's order", told(np.zeros(shape, np.float32, order="F")), ValueError)
        rows = np.zeros((2 * shape[0], *shape[1:]), np.float32)[::2]
        cases["x that is every other row of an array"] = (told(rows), fine, ValueError)
        cases["x whose first axis runs backwards"] = (told(plain[::-1]), fine, ValueError)
        padded = np.zeros((*shape[:-1], shape[-1] + 4), np.float32)[..., : shape[-1]]
        either("with gaps between its rows only", told(padded), ValueError)
    if len(shape) > 2:
        exchanged = np.zeros((*shape[:-2], shape[-1], shape[-2]), np.float32).swapaxes(-1, -2)
        cases["x with its last two axes exchanged"] = (told(exchanged), fine, ValueError)
    return cases
