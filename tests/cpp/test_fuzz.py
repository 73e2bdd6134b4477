"""Arguments drawn for the binding, on a fake CUDA runtime: the right answer comes, or an exception that names one."""

import sys
from typing import Any

import cupy
import numpy as np
import pytest
from fake_cuda import FakeCuda
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from protocols import exported, library, of_cupy

often = settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LIBRARIES: dict[str, Any] = {"CuPy": of_cupy, "DLPack": lambda array: library()(array)}
LIBRARIES["interface"] = lambda array: exported(array, strides=array.strides)
READ_ONLY: dict[str, Any] = {"read-only DLPack": lambda array: library()(array, read_only=True)}
READ_ONLY["read-only interface"] = lambda array: exported(array, strides=array.strides, read_only=True)
NO_ARRAYS = {"NumPy": np.copy, "a list": list, "None": lambda _: None, "address": lambda array: array.ctypes.data}


def mostly(right: list, *wrong: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(right * (8 * len(wrong) // len(right)) + list(wrong))


DTYPE, SIZE, NAME = mostly(["f4"], "f8", "i4", "?"), mostly([17], 2, 1), mostly([*LIBRARIES], *READ_ONLY, *NO_ARRAYS)
DRAWN, STREAM = st.tuples(NAME, DTYPE, SIZE, mostly([1], 2), mostly([8], 6)), mostly([64], 0, -1, 2**70, "0", True)


@given(x=DRAWN, y=DRAWN, stream=STREAM)
@often
def test_a_call_doubles_or_changes_nothing(fake: FakeCuda, x: Any, y: Any, stream: Any) -> None:
    sys.modules["cupy"] = cupy  # the fixture puts back what was there
    memory, arrays = np.tile(np.arange(100, dtype="f4"), (2, 1)), []
    for (_, dtype, size, step, offset), row in zip((x, y), memory, strict=True):
        arrays.append(np.ndarray(size, dtype, row, offset, (step * np.dtype(dtype).itemsize,)))
    given = [(LIBRARIES | READ_ONLY | NO_ARRAYS)[name](array) for (name, *_), array in zip((x, y), arrays, strict=True)]
    fit = x[0] not in NO_ARRAYS and y[0] in LIBRARIES and x[2] == y[2] and stream in (0, 64)
    if fit and all(array.dtype == "f4" and array.flags.carray for array in arrays):
        fake.doublify(*given, stream=stream)
        np.testing.assert_array_equal(arrays[1], 2 * arrays[0])
        arrays[1][:] = arrays[0]
    else:
        with pytest.raises((TypeError, ValueError), match="^doublify: (x|y|stream) "):
            fake.doublify(*given, stream=stream)
    assert (memory == np.arange(100)).all(), "what lies around the output, or all of it"


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "uint64"])
@given(value=st.integers(-(2**70), 2**70) | st.integers(-300, 300) | st.floats() | st.sampled_from([None, "1", 1j]))
@often
def test_a_whole_number_arrives_or_is_refused(fake: FakeCuda, dtype: str, value: Any) -> None:
    if isinstance(value, int) and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        assert fake.shown(f"number_{dtype}", value) == str(value)
    else:
        with pytest.raises(TypeError, match=f"^number_{dtype}.*incompatible function arguments"):
            getattr(fake.binding, f"number_{dtype}")(value)
