"""Arrays of every element type, by a binding that shows what arrives (kinds.cpp), on a fake CUDA runtime."""

import sys

import cupy
import numpy as np
import pytest
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


def test_numbers_are_rounded_to_float32_and_refused_beyond(fake: FakeCuda) -> None:
    for good in (0.1, -1.0, -1, 3, True, np.float16(1.5), np.int64(2**24 + 1), np.float32(0.1), np.inf, np.array(0.1)):
        assert fake.shown("scalar_float32", good) == f"{np.float32(good):f}"
    assert fake.shown("scalar_float32", np.nan) == "nan"
    for beyond in (1e39, -1e300):
        with pytest.raises(ValueError, match="^scalar_float32: n is -?1.*; wanted a number within float32's range$"):
            fake.binding.scalar_float32(beyond)
    for wrong in ("1", None, 1j, [1.0], 10**400):
        with pytest.raises(TypeError, match=r"^scalar_float32\(\): incompatible function arguments"):
            fake.binding.scalar_float32(wrong)
