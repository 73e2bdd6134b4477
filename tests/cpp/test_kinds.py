"""Arrays of every element type, by a binding that shows what arrives (kinds.cpp), on a fake CUDA runtime."""

import ctypes
import sys
from typing import Any

import cupy
import numpy as np
import pytest
from argument_cases import ROWS, Row
from fake_cuda import FakeCuda
from protocols import Exported, library, of_cupy

WHOLE = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
ELEMENTS = ["bool", *WHOLE, "float32", "float64", "complex64", "complex128"]
KNEE = np.dtype([("start", "<f4"), ("slope", "<f4"), ("order", "<i4")])

# --- arrays -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", ELEMENTS)
def test_arrays_of_every_element_type_and_of_no_other(
    fake: FakeCuda, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    Library = library()
    for came in ELEMENTS:
        array = np.zeros(3, came)
        for given in (Exported((3,), array.dtype.str), of_cupy(array), Library(array)):
            if came == wanted:
                assert fake.shown(f"array_{wanted}", given) == "3"
            else:
                with pytest.raises(TypeError, match=f"^array_{wanted}: x has dtype {came}; wanted {wanted}$"):
                    getattr(fake.binding, f"array_{wanted}")(given)


@pytest.mark.parametrize(("c_type", "dtype"), [("longlong", "int64"), ("ulonglong", "uint64")])
def test_cs_other_name_of_64_bits_is_the_same(fake: FakeCuda, c_type: str, dtype: str) -> None:
    assert fake.shown(f"array_{c_type}", Exported((3,), np.dtype(dtype).str)) == "3"


def test_one_byte_has_no_order_and_more_have(fake: FakeCuda) -> None:
    assert fake.shown("array_int8", Exported((3,), "<i1")) == "3"
    with pytest.raises(TypeError, match="^array_int16: x has dtype >i2; wanted int16"):
        fake.binding.array_int16(Exported((3,), ">i2"))


@pytest.mark.parametrize("typestr", ["|V12", "|S12", "<V12"])
def test_structs_are_any_type_of_their_size(fake: FakeCuda, typestr: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert fake.shown("array_knee", Exported((3,), typestr, address=0x7F00_0000_0004)) == "3"
    assert fake.shown("array_knee", of_cupy(np.zeros(3, KNEE))) == "3"
    assert fake.shown("array_knee", library()(np.zeros(3, KNEE), dtype=(2, 32, 3))) == "3"


@pytest.mark.parametrize("typestr", ["<f4", "|V24", "|V1", "f", ""])
def test_structs_of_another_size_are_refused(fake: FakeCuda, typestr: str) -> None:
    with pytest.raises(TypeError, match="^array_knee: x has dtype .*; wanted 12 bytes each$"):
        fake.binding.array_knee(Exported((3,), typestr))


@pytest.mark.parametrize(("name", "typestr", "bytes"), [("complex128", "<c16", 16), ("knee", "|V12", 4)])
def test_addresses_suit_the_c_type(fake: FakeCuda, name: str, typestr: str, bytes: int) -> None:
    with pytest.raises(ValueError, match=f"x starts at address .*; wanted a multiple of {bytes}, and not 0"):
        getattr(fake.binding, f"array_{name}")(Exported((3,), typestr, address=0x7F00_0000_0000 + bytes // 2))


# --- numbers, which pybind11 casts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{type(row.value).__name__} {row.value} for {row.dtype}")
def test_a_number_is_converted_or_refused_as_the_one_table_says(fake: FakeCuda, row: Row) -> None:
    name, expected = f"number_{row.dtype}", row.by_binding
    if isinstance(expected, type):
        with pytest.raises(expected, match=f"^{name}(: n is |\\(\\): incompatible function arguments)"):
            getattr(fake.binding, name)(row.value)
    else:
        shown = f"{np.dtype(row.dtype).type(expected):f}" if row.dtype.startswith("float") else str(int(expected))
        assert fake.shown(name, row.value) == shown


# --- structs by value -------------------------------------------------------------------------------------------------


class Knee(ctypes.Structure):
    _fields_ = (("start", ctypes.c_float), ("slope", ctypes.c_float), ("order", ctypes.c_int))


def test_a_struct_comes_from_whatever_shows_its_bytes(fake: FakeCuda) -> None:
    knee = np.array((1, 2, 3), KNEE)
    apart = np.stack([knee.reshape(1).view("i4"), np.zeros(3, "i4")], axis=1)[:, 0]  # the same bytes, with gaps between
    others = bytearray(knee), memoryview(knee), Knee(1, 2, 3)
    for given in (knee, knee[()], knee.reshape(1), apart, knee.tobytes(), *others):
        assert fake.shown("knee", given) == "1.000000 2.000000 3"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (b"short", "is a bytes of 5 bytes"),
        (np.zeros(2, KNEE), "is a ndarray of 24 bytes"),
        (np.zeros((), KNEE.descr[:2]), "is a ndarray of 8 bytes"),
        (memoryview(np.zeros(6, "f4"))[::2], "is a memoryview, which shows no contiguous bytes"),
        ((1, 2, 3), "is a tuple, which shows no contiguous bytes"),
        ("twelve bytes", "is a str, which shows no contiguous bytes"),
        (None, "is a NoneType, which shows no contiguous bytes"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_such_struct_is_refused_with_both_sizes(fake: FakeCuda, given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^knee: knee {message}; wanted a struct of 12 bytes"):
        fake.binding.knee(given)


# --- grid and block ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "dim3"),
    [(5, "5 1 1"), ((5,), "5 1 1"), ((5, 6), "5 6 1"), ((5, 6, 7), "5 6 7"), (np.int32(5), "5 1 1")],
    ids=str,
)
@pytest.mark.parametrize("name", ["grid", "block"])
def test_extents_are_an_int_or_up_to_three(fake: FakeCuda, name: str, given: Any, dim3: str) -> None:
    assert fake.shown(name, given) == dim3


@pytest.mark.parametrize(
    ("name", "given"), [("grid", (2**31 - 1, 65535, 65535)), ("block", (1024, 1, 1)), ("block", (4, 4, 64))]
)
def test_the_largest_extents_are_taken(fake: FakeCuda, name: str, given: tuple[int, ...]) -> None:
    assert fake.shown(name, given) == " ".join(map(str, given))


@pytest.mark.parametrize(
    ("name", "given", "error", "message"),
    [
        ("grid", 0, ValueError, "0; wanted 1 to 2147483647 in x"),
        ("grid", (1, -1), ValueError, r"\(1, -1\); wanted 1 to 65535 in y"),
        ("grid", 2**31, ValueError, "2147483648; wanted 1 to 2147483647 in x"),
        ("grid", 2**70, ValueError, "1180591620717411303424; wanted 1 to"),
        ("grid", (1, 65536), ValueError, ".*; wanted 1 to 65535 in y"),
        ("grid", (1, 1, 65536), ValueError, ".*; wanted 1 to 65535 in z"),
        ("block", 1025, ValueError, "1025; wanted 1 to 1024 in x"),
        ("block", (1, 1, 65), ValueError, ".*; wanted 1 to 64 in z"),
        ("block", (32, 33), ValueError, r"\(32, 33\), 1056 threads; wanted 1024 at most"),
        ("grid", (), ValueError, r"\(\); wanted an int, or one to three in a tuple"),
        ("grid", (1, 1, 1, 1), ValueError, ".*; wanted an int, or one to three"),
        ("grid", 1.0, TypeError, "1.0; wanted an int, or one to three"),
        ("grid", [1], TypeError, r"\[1\]; wanted an int, or one to three"),
        ("block", (1, "2"), TypeError, r"\(1, '2'\); wanted an int, or one to three"),
        ("block", None, TypeError, "None; wanted an int, or one to three"),
    ],
)
def test_extents_beyond_cudas_limits_are_refused(
    fake: FakeCuda, name: str, given: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{name}: {name} is {message}"):
        getattr(fake.binding, name)(given)
