"""How the binding reads an array, picks a stream and launches (gpu_array.cpp), on a CUDA runtime of host memory."""

import sys
from types import SimpleNamespace
from typing import Any

import cupy
import numpy as np
import pytest
from fake_cuda import FakeCuda
from protocols import CapsuleOnly, Exported, exported, of_cupy


def arrays(shape: tuple[int, ...] = (4, 4)) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(1).standard_normal(shape, np.float32), np.full(shape, np.nan, np.float32)


@pytest.fixture
def cupys_stream(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """CuPy's current stream, which is stream 32 until a test changes `ptr`."""
    stream = SimpleNamespace(ptr=32)
    cuda = SimpleNamespace(get_current_stream=lambda: stream)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=cupy.ndarray, cuda=cuda))
    return stream


# --- four ways to describe an array ----------------------------------------------------------------------------------

DESCRIBED: dict[str, Any] = {
    "interface": exported,
    "interface with strides": lambda array: exported(array, strides=array.strides),
    "CuPy": of_cupy,
    "DLPack": CapsuleOnly,
    "DLPack before 1.0": lambda array: CapsuleOnly(array, old=True),
    "managed memory": lambda array: CapsuleOnly(array, device=13),
}


@pytest.mark.usefixtures("cupys_stream")
@pytest.mark.parametrize("shape", [(), (3, 0), (33,), (2, 3, 5), (1, 1, 1, 1, 2)], ids=str)
@pytest.mark.parametrize("kind", DESCRIBED)
def test_arrays_of_any_shape_reach_the_launch(fake: FakeCuda, kind: str, shape: tuple[int, ...]) -> None:
    x, y = arrays(shape)
    fake.doublify(DESCRIBED[kind](x), DESCRIBED[kind](y), stream=0)
    assert fake.log()[-1] == f"launch {x.size} 0"
    np.testing.assert_array_equal(y, 2 * x)


def test_unusual_descriptions_of_a_right_array(fake: FakeCuda) -> None:
    x, y = arrays((3, 1, 2))
    fake.doublify(exported(x, strides=(8, 999, 4), read_only=True), exported(y))  # an extent of one: any stride
    np.testing.assert_array_equal(y, 2 * x)
    shape, strides = (np.int64(3), np.int32(1), 2), (np.int64(8), np.int8(8), 4)
    fake.doublify(Exported(shape, address=x.ctypes.data, strides=strides), exported(y))
    assert fake.log() == ["launch 6 0"] * 2


def test_dlpack_is_told_the_stream_and_gets_its_memory_back(fake: FakeCuda) -> None:
    x, y = arrays((3, 5))
    references = sys.getrefcount(x)
    source, target = CapsuleOnly(x), CapsuleOnly(y)
    assert fake.doublify(source, target, stream=64) == ["record 1", "wait 64", "launch 15 64"]
    assert source.streams == target.streams == [1], "DLPack's name of the legacy default stream is 1"
    del source
    assert sys.getrefcount(x) == references


# --- refused ---------------------------------------------------------------------------------------------------------

A, B = np.zeros((4, 4), np.float32), np.zeros((4, 4), np.float32)
LOCKED = B.view()
LOCKED.flags.writeable = False
BROKEN = "x has a broken __cuda_array_interface__"
REFUSED: list[tuple[Any, Any, type[Exception], str]] = [
    (Exported(typestr=">f4"), B, TypeError, "x has dtype >f4; wanted float32"),
    (Exported(typestr="no type"), B, TypeError, "x has dtype no type; wanted float32"),
    (None, B, TypeError, "x is a NoneType; wanted a GPU array"),
    (SimpleNamespace(__cuda_array_interface__={}), B, TypeError, f"{BROKEN}: .*data"),
    (Exported(mask=A), B, TypeError, f"{BROKEN}: .*mask"),
    (Exported(stream="s"), B, TypeError, f"{BROKEN}: doublify: x's stream is a str; wanted None, a stream"),
    (Exported(("4", 4)), B, TypeError, BROKEN),  # type: ignore[arg-type]
    (Exported(strides=(16, 2**64)), B, TypeError, BROKEN),
    (Exported(address=2**70), B, TypeError, BROKEN),
    (Exported(strides=(16,)), B, TypeError, "x has 1 strides and 2 dimensions"),
    (Exported((-1, 4)), B, ValueError, r"x has shape \(-1, 4\); wanted extents from 0 up"),
    (Exported((2**40, 2**40)), B, ValueError, "x has shape .*; wanted extents"),
    (Exported(address=0), B, ValueError, "x starts at address 0; wanted"),
    (of_cupy(A.astype(np.float64)), B, TypeError, "x has dtype float64; wanted float32"),
    (of_cupy(A.T), B, ValueError, r"x has shape \(4, 4\) and strides \(4, 16\); wanted C order"),
    (CapsuleOnly(A.astype("bool")), B, TypeError, "x has dtype bool; wanted float32"),
    (CapsuleOnly(A.T), B, ValueError, "x has shape .* and strides .*; wanted C order"),
    (exported(A), CapsuleOnly(LOCKED), ValueError, "y is read-only; wanted"),
    (CapsuleOnly(A, device=3), B, TypeError, r"x is a \S*CapsuleOnly in host memory; wanted"),
    (CapsuleOnly(A, device=10), B, TypeError, r"x is a \S*CapsuleOnly; wanted an array of a CUDA GPU"),
    (SimpleNamespace(__dlpack_device__=lambda: (2, 0), __dlpack__=lambda **_: 1), B, TypeError,
     "x gave a int of __dlpack__; wanted a capsule"),
]  # fmt: skip


@pytest.mark.parametrize(("x", "y", "error", "message"), REFUSED, ids=range(len(REFUSED)))
def test_nothing_is_launched_on_a_bad_array(
    fake: FakeCuda, x: Any, y: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^doublify: {message}"):
        fake.doublify(x, exported(y) if y is B else y)
    assert fake.log() == []


def test_memory_of_the_host_and_of_another_gpu_is_refused(fake: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = arrays()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    for device, host, arguments, error, message in [
        (0, y.ctypes.data, (exported(x), exported(y)), TypeError, "y is in host memory; wanted an array of a GPU"),
        (0, 0, (of_cupy(x), of_cupy(y, device=1)), ValueError, "y is on GPU 1; wanted GPU 0, the current one"),
        (1, 0, (exported(x), exported(y)), ValueError, "x is on GPU 0; wanted GPU 1, the current one"),
    ]:
        fake.set(device, host)
        with pytest.raises(error, match=f"^doublify: {message}"):
            fake.doublify(*arguments)
        assert fake.log() == []


def test_an_error_of_the_array_itself_is_not_swallowed(fake: FakeCuda) -> None:
    class NeedsGradient:
        @property
        def __cuda_array_interface__(self) -> dict[str, object]:
            raise RuntimeError("use tensor.detach()")

    with pytest.raises(RuntimeError, match="detach"):
        fake.doublify(NeedsGradient(), exported(B))


# --- element types ---------------------------------------------------------------------------------------------------

WHOLE = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
ELEMENTS = ["bool", *WHOLE, "float32", "float64", "complex64", "complex128"]
KNEE = np.dtype([("start", "<f4"), ("slope", "<f4"), ("order", "<i4")])


@pytest.mark.parametrize("wanted", ELEMENTS)
def test_arrays_of_every_element_type_and_of_no_other(fake: FakeCuda, wanted: str) -> None:
    for came in ELEMENTS:
        array = np.zeros(3, came)
        for given in (Exported((3,), array.dtype.str), of_cupy(array)):
            if came == wanted:
                assert fake.shown(wanted, given) == 3
            else:
                with pytest.raises(TypeError, match=f"^array_{wanted}: x has dtype {came}; wanted {wanted}$"):
                    fake.shown(wanted, given)


def test_names_of_one_type_and_structs_of_one_size(fake: FakeCuda) -> None:
    for name, typestr in (("longlong", "<i8"), ("ulonglong", "<u8"), ("int8", "<i1")):
        assert fake.shown(name, Exported((3,), typestr)) == 3
    knees = [Exported((3,), typestr, address=0x7F00_0000_0004) for typestr in ("|V12", "|S12", "<V12")]
    for knee in [*knees, of_cupy(np.zeros(3, KNEE))]:
        assert fake.shown("knee", knee) == 3
    for typestr in ("<f4", "|V24", "|V1", "f", ""):
        with pytest.raises(TypeError, match="^array_knee: x has dtype .*; wanted 12 bytes each$"):
            fake.shown("knee", Exported((3,), typestr))
    for name, typestr, alignment in (("complex128", "<c16", 16), ("knee", "|V12", 4)):
        with pytest.raises(ValueError, match=f"x starts at address .*; wanted a multiple of {alignment}, and not 0"):
            fake.shown(name, Exported((3,), typestr, address=0x7F00_0000_0000 + alignment // 2))
