"""Bindings under one launcher, the ranks of imports, and the judges of lesson 12's exercises."""

import ctypes
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fourways import kernels, lesson, toolchain
from fourways.experiments import more_ways

needs_host = pytest.mark.skipif(toolchain.missing("host compiler") is not None, reason="no C++ compiler")


def test_collect_checks_the_further_ways_and_names_a_wrong_one() -> None:
    def right(x: Any, y: Any) -> None:
        y[...] = 2 * x

    def wrong(x: Any, y: Any) -> None:
        y[...] = x

    namespace = {
        "make_inputs": lambda size: (np.arange(size, dtype=np.float32),),
        "reference": lambda x: 2 * x,
        "doublify_host": right,
    }
    assert list(more_ways.collect(namespace).functions) == ["host"]
    if toolchain.missing("gpu"):
        ways = more_ways.collect(namespace | {"doublify_wrong": wrong})
        assert "wrong" in ways.missing and "wrong" not in ways.runnable and "host" in ways.runnable


def test_ranks_of_imports() -> None:
    """A module that sleeps is behind; what cannot be imported is named; two of a kind may share a rank."""
    slow = "import time; time.sleep(0.2)"
    statements = {"slow": slow, "quick": "pass", "same": "pass", "absent": "import not_there_at_all"}
    table = more_ways.imports(statements, times=5, at_once=2)
    ranks = {row["way"]: row["rank"] for row in table.rows}
    assert ranks["slow"] == 3 and min(ranks["quick"], ranks["same"]) == 1 and "absent" not in ranks
    assert {row["seconds"]["samples"] for row in table.rows} == {5}
    assert table.note == "Host clock; 5 fresh processes each, 2 at a time. Not importable here: absent."


def declared(kinds: list, restype: Any = ctypes.c_char_p) -> Callable:
    def declare(function: Any) -> None:
        function.argtypes, function.restype = kinds, restype

    return declare


P, N = ctypes.c_void_p, ctypes.c_longlong


@needs_host
@pytest.mark.parametrize("count", [N, ctypes.c_int64, ctypes.c_ssize_t])
@pytest.mark.parametrize("address", [P, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_int64])
def test_right_declarations(count: Any, address: Any) -> None:
    for stream in (P, address):
        assert more_ways.check_declared(declared([address, address, count, stream])).startswith("Right")


@needs_host
@pytest.mark.parametrize(
    ("kinds", "restype", "why"),
    [
        ([], ctypes.c_int, "nothing is declared"),
        ([], ctypes.c_char_p, "32 bits"),
        ([P, P, N], ctypes.c_char_p, "3 types"),
        ([P, P, ctypes.c_int, P], ctypes.c_char_p, "c_int cannot hold an n"),
        ([P, P, P, P], ctypes.c_char_p, "of -1"),
        ([P, P, ctypes.c_size_t, P], ctypes.c_char_p, "of -1"),
        ([P, ctypes.c_int, N, P], ctypes.c_char_p, "cannot hold y"),
        ([ctypes.POINTER(ctypes.c_float)] * 2 + [N, P], ctypes.c_char_p, "takes no integer"),
        ([ctypes.c_double, P, N, P], ctypes.c_char_p, "cannot hold x"),
        ([P, P, N, P], ctypes.c_int, "declared as c_int"),
        ([P, P, N, P], None, "its message is lost"),
        ([P, P, N, P], ctypes.c_void_p, "its message is lost"),
        ([P, P, N, P], lambda result: None, "half of the text's address"),
        ([P, P, N, P], lambda result: ctypes.string_at(result) if result else None, "half of the text's address"),
        ([P, P, N, "P"], ctypes.c_char_p, "no from_param method"),
        ([ctypes.c_wchar_p, P, N, P], ctypes.c_char_p, "c_wchar_p takes no integer, and the judge passes x"),
        ([P, ctypes.py_object, N, P], ctypes.c_char_p, "py_object takes no integer, and the judge passes y"),
        ([P, P, ctypes.c_wchar_p, P], ctypes.c_char_p, "passes n"),
        ([P, P, ctypes.POINTER(ctypes.c_longlong), P], ctypes.c_char_p, "passes n"),
        ([P, P, ctypes.c_double, P], ctypes.c_char_p, "floating-point"),
        ([P, P, N, P], ctypes.py_object, "no Python object"),
        ([P, P, N, P], lambda result: b"oops" if result else None, "half of the text's address"),
    ],
)
def test_wrong_declarations(kinds: list, restype: Any, why: str) -> None:
    said = more_ways.check_declared(declared(kinds, restype))
    assert said.startswith("Not yet: ") and why in said and "c_longlong" not in said and "c_char_p" not in said


@needs_host
def test_errcheck_is_refused() -> None:
    """It may raise, as ctypes' own manual does, or make up the messages."""

    def declare(function: Any) -> None:
        declared([P, P, N, P])(function)
        function.errcheck = lambda result, function, arguments: b"n is negative" if arguments[2] < 0 else result

    assert "errcheck changes the results" in more_ways.check_declared(declare)


@needs_host
@pytest.mark.parametrize("place", range(4))
def test_a_declared_text_is_never_read(place: int) -> None:
    """A c_char_p made from the judge's integers would end the process when its value is read."""
    kinds = [P, P, N, P]
    kinds[place] = ctypes.c_char_p
    assert "c_char_p takes no integer" in more_ways.check_declared(declared(kinds))


def solution() -> Callable:
    namespace: dict[str, Any] = {"more_ways": SimpleNamespace(check_refusals=lambda refuse: ""), "print": lambda _: 0}
    (source,) = (cell for cell in lesson.find("12").cells("solution") if "def refuse" in cell)
    exec(source, namespace)
    return namespace["refuse"]


def test_right_refusals() -> None:
    assert more_ways.check_refusals(solution()).startswith("Right")


class NoArray(TypeError):
    """A learner's own exception."""


def also_overlaps(x: Any, y: Any) -> None:
    """Refuse two arrays at the same address too, and types by an exception of its own."""
    try:
        solution()(x, y)
    except TypeError as error:
        raise NoArray from error
    if x.__cuda_array_interface__["data"][0] == y.__cuda_array_interface__["data"][0]:
        raise ValueError("x and y overlap")


def test_more_than_the_solution_is_right() -> None:
    assert more_ways.check_refusals(also_overlaps).startswith("Right")


class Either(TypeError, ValueError):
    """An exception of both kinds."""


def does_not_tell_types_from_gaps(x: Any, y: Any) -> None:
    """Refuse what the solution refuses, always by the same exception."""
    try:
        solution()(x, y)
    except (TypeError, ValueError) as error:
        raise Either from error


def dodge(is_type: Callable[[str, str], bool], is_dense: Callable[[dict, int], bool]) -> Callable:
    """Return a `refuse` that tells types by the name of the array and its typestr, and gaps by the dictionary."""

    def refuse(x: Any, y: Any) -> None:
        told: dict[str, Any] = {
            name: getattr(array, "__cuda_array_interface__", None) for name, array in (("x", x), ("y", y))
        }
        for name, about in told.items():
            if about is None or not is_type(name, about["typestr"]):
                raise TypeError(name)
            if about.get("strides") and not is_dense(about, 4 * int(np.prod(about["shape"]))):
                raise ValueError(name)
        if told["x"]["shape"] != told["y"]["shape"] or told["y"]["data"][1]:
            raise ValueError

    return refuse


def is_right(name: str, typestr: str) -> bool:
    return typestr == "<f4"


def last_stride(about: dict, size: int) -> bool:
    return about["strides"][-1] == 4


def first_stride(about: dict, size: int) -> bool:
    return about["strides"][0] * about["shape"][0] == size


def first_stride_of_positive(about: dict, size: int) -> bool:
    return min(about["strides"]) > 0 and first_stride(about, size)


def magnitudes(about: dict, size: int) -> bool:
    """Compare the strides' magnitudes only."""
    dense = [4 * int(np.prod(about["shape"][axis + 1 :])) for axis in range(len(about["shape"]))]
    return list(map(abs, about["strides"])) == dense


def no_repeats(about: dict, size: int) -> bool:
    """Take strides of 0 for those of an array without gaps."""
    return set(about["strides"]) == {0} or (magnitudes(about, size) and min(about["strides"]) > 0)


def written_out(wrong_name: str) -> Callable:
    """Return a `refuse` that takes no written-out strides of y, or no gaps of y if x has written-out strides."""

    def refuse(x: Any, y: Any) -> None:
        told = [getattr(array, "__cuda_array_interface__", {}) for array in (x, y)]
        if wrong_name == "y is written out" and told[1].get("strides"):
            raise ValueError("y")
        if wrong_name == "both" and all(about.get("strides") for about in told) and told[0]["strides"][-1] == 4:
            return
        solution()(x, y)

    return refuse


def only_sizes(x: Any, y: Any) -> None:
    """Compare sizes instead of shapes."""
    about = getattr(y, "__cuda_array_interface__", {})
    other = getattr(x, "__cuda_array_interface__", {})
    if about and other and np.prod(about["shape"]) == np.prod(other["shape"]) and not about["data"][1]:
        shapes = y.__cuda_array_interface__, x.__cuda_array_interface__
        y = SimpleNamespace(__cuda_array_interface__=shapes[0] | {"shape": shapes[1]["shape"]})
    solution()(x, y)


@pytest.mark.parametrize(
    ("refuse", "why"),
    [
        (lambda x, y: None, "x in the CPU's memory passes"),
        (lambda x, y: np.asarray(x), "x in the CPU's memory passes"),
        (lambda x, y: solution()(x, x), "y in the CPU's memory passes"),
        (does_not_tell_types_from_gaps, "raises Either, and should raise TypeError"),
        (only_sizes, "y of another shape and the same size passes"),
        (dodge(is_right, last_stride), "x that is every other row of an array passes"),
        (dodge(is_right, first_stride), "x that runs backwards passes"),
        (dodge(is_right, first_stride_of_positive), "x with its last two axes exchanged passes"),
        (dodge(is_right, magnitudes), "backwards passes"),
        (dodge(is_right, no_repeats), "strides of 0"),
        (written_out("y is written out"), "y with written-out strides, and no gaps raises ValueError"),
        (written_out("both"), "y with gaps, while the strides of x are written out passes"),
        (dodge(lambda name, typestr: typestr.endswith("f4"), last_stride), "x of float32 in the other byte order"),
        (
            dodge(lambda name, typestr: typestr[-1] == "4" and (name == "x" or typestr == "<f4"), last_stride),
            "x of int32",
        ),
    ],
)
def test_wrong_refusals(refuse: Callable, why: str) -> None:
    said = more_ways.check_refusals(refuse)
    assert said.startswith("Not yet: ") and why in said


PLAIN = """
#include <pybind11/pybind11.h>

void plain(const float *x, float *y, long long n)
{
    for (long long i = 0; i < n; ++i)
        y[i] = 2 * x[i];
}

PYBIND11_MODULE(plain_pointer, m) { m.def("plain", &plain); }
"""


@needs_host
@pytest.mark.long
def test_pybind11_takes_a_plain_pointer_for_one_number(tmp_path: Path) -> None:
    """As lesson 12 says: an address becomes a temporary float, silently, and an array is refused."""
    import pybind11

    (tmp_path / "plain_pointer.cpp").write_text(PLAIN)
    headers = [f"-I{path}" for path in (sysconfig.get_paths()["include"], pybind11.get_include())]
    file = f"plain_pointer{sysconfig.get_config_var('EXT_SUFFIX')}"
    command = [toolchain.host_compiler(), "-std=c++17", "-shared", "-fPIC", *headers, "plain_pointer.cpp", "-o", file]
    subprocess.run(list(map(str, command)), cwd=tmp_path, check=True)
    program = """
import numpy as np
import plain_pointer
x, y = np.full(1, 3, np.float32), np.zeros(1, np.float32)
plain_pointer.plain(x.ctypes.data, y.ctypes.data, 1)
assert y[0] == 0
x, y = np.full(2, 3, np.float32), np.zeros(2, np.float32)  # before NumPy 2.4, one element passes as a number
try:
    plain_pointer.plain(x, y, 2)
except TypeError:
    print("an array is refused")
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "an array is refused\n", done.stderr


def test_the_workbench_is_empty_and_importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "root", lambda: tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "build" / "x" / "old").mkdir(parents=True)
    bench = more_ways.Workbench("x")
    assert list(bench.folder.iterdir()) == [] and sys.path[0] == str(bench.folder)
    with pytest.raises(RuntimeError, match="wrong"):
        bench.run(sys.executable, "-c", "raise SystemExit('wrong')")
    assert 0 < bench.run(sys.executable, "-c", "pass") < 60
