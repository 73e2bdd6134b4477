"""How the binding reads an array, picks a stream and launches (gpu_array.cpp), on a CUDA runtime of host memory."""

import ctypes
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

import cupy
import numpy as np
import pytest
from fake_cuda import FakeCuda
from protocols import FAILS, CapsuleOnly, Exchange, Exported, exported, library, of_cupy


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

Library = library()
DESCRIBED: dict[str, Any] = {
    "interface": exported,
    "interface with strides": lambda array: exported(array, strides=array.strides),
    "CuPy": of_cupy,
    "DLPack": CapsuleOnly,
    "DLPack before 1.0": lambda array: CapsuleOnly(array, old=True),
    "managed memory": lambda array: CapsuleOnly(array, device=13),
    "DLPack's C functions": Library,
    "C functions, managed memory": lambda array: Library(array, device=(13, 0)),
    "a subclass": lambda array: type("Parameter", (Library,), {})(array),
    "an older table": lambda array: library(2, library(), managed=FAILS, tensor=FAILS)(array),
    "without the shorter function": lambda array: library(tensor=None)(array),
}


@pytest.mark.usefixtures("cupys_stream")
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (33,), (4, 4), (2, 3, 5), (1, 1, 1, 1, 2)], ids=str)
@pytest.mark.parametrize("kind", DESCRIBED)
def test_arrays_of_any_shape_reach_the_launch(fake: FakeCuda, kind: str, shape: tuple[int, ...]) -> None:
    x, y = arrays(shape)
    fake.doublify(DESCRIBED[kind](x), DESCRIBED[kind](y), stream=0)
    assert fake.log()[-1] == f"launch {x.size} 0"
    np.testing.assert_array_equal(y, 2 * x)
    assert not Library.lent, "what was lent is given back"


def test_unusual_descriptions_of_a_right_array(fake: FakeCuda) -> None:
    x, y = arrays((3, 1, 2))
    fake.doublify(exported(x, strides=(8, 999, 4), read_only=True), exported(y))  # an extent of one: any stride
    np.testing.assert_array_equal(y, 2 * x)
    shape, strides = (np.int64(3), np.int32(1), 2), (np.int64(8), np.int8(8), 4)
    fake.doublify(Exported(shape, address=x.ctypes.data, strides=strides), exported(y))
    x_and_functions = exported(x)
    x_and_functions.__dlpack_c_exchange_api__ = Library.__dlpack_c_exchange_api__  # type: ignore[attr-defined]
    fake.doublify(x_and_functions, exported(y))  # they are looked up in the type, not in the array
    assert fake.log() == ["launch 6 0"] * 3


def test_an_output_alone_is_asked_whether_it_is_read_only(fake: FakeCuda) -> None:
    Asked = library()
    x, y = arrays()
    fake.doublify(Asked(x, read_only=True), Asked(y))
    assert Asked.calls == ["tensor", "managed"]


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
    *((Exported(typestr=name), B, TypeError, f"x has dtype {name}; wanted float32") for name in (">f4", "=f4", "f4")),
    (Exported(typestr="no type"), B, TypeError, "x has dtype no type; wanted float32"),
    (None, B, TypeError, "x is a NoneType; wanted a GPU array"),
    (exported(A), SimpleNamespace(__dlpack_device__=lambda: (1, 0), __dlpack__=None), TypeError,
     "y is a types.SimpleNamespace in host memory; wanted"),
    (cupy.ndarray, B, TypeError, BROKEN),
    (SimpleNamespace(__cuda_array_interface__={}), B, TypeError, f"{BROKEN}: .*data"),
    (Exported(mask=A), B, TypeError, f"{BROKEN}: .*mask"),
    (Exported(stream="s"), B, TypeError, f"{BROKEN}: doublify: x's stream is a str; wanted None, a stream"),
    *((Exported(shape), B, TypeError, BROKEN) for shape in (4, ("4", 4), (2**70, 4))),  # type: ignore[arg-type]
    *((Exported(strides=strides), B, TypeError, BROKEN) for strides in (16, (16.0, 4), (16, 2**64))),
    *((Exported(address=place), B, TypeError, BROKEN) for place in (2**70, "there")),  # type: ignore[arg-type]
    *((Exported(**wrong), B, TypeError, BROKEN) for wrong in ({"data": 4}, {"typestr": 4})),  # type: ignore[arg-type]
    (Exported(strides=(16,)), B, TypeError, "x has 1 strides and 2 dimensions"),
    (Exported((-1, 4)), B, ValueError, r"x has shape \(-1, 4\); wanted extents from 0 up"),
    (Exported((2**40, 2**40)), B, ValueError, "x has shape .*; wanted extents"),
    (Exported(address=0), B, ValueError, "x starts at address 0; wanted"),
    (of_cupy(A.astype(np.float64)), B, TypeError, "x has dtype float64; wanted float32"),
    (of_cupy(A.T), B, ValueError, r"x has shape \(4, 4\) and strides \(4, 16\); wanted C order"),
    *((CapsuleOnly(A.astype(dtype)), B, TypeError, f"x has dtype {dtype}; wanted") for dtype in ("float64", "bool")),
    (CapsuleOnly(A.T), B, ValueError, "x has shape .* and strides .*; wanted C order"),
    (exported(A), CapsuleOnly(LOCKED), ValueError, "y is read-only; wanted"),
    (CapsuleOnly(A, device=3), B, TypeError, r"x is a \S*CapsuleOnly in host memory; wanted"),
    (CapsuleOnly(A, device=10), B, TypeError, r"x is a \S*CapsuleOnly; wanted an array of a CUDA GPU"),
    (SimpleNamespace(__dlpack_device__=lambda: (2, 0), __dlpack__=lambda **_: 1), B, TypeError,
     "x gave a int of __dlpack__; wanted a capsule"),
    *((Library(A.astype(dtype)), B, TypeError, f"x has dtype {dtype}; wanted") for dtype in ("int32", "bool")),
    (Library(A.view(np.complex64)), B, TypeError, "x has dtype complex64; wanted float32"),
    (Library(A, dtype=(4, 16, 1)), B, TypeError, "x has dtype bfloat16; wanted float32"),
    (Library(A, dtype=(10, 8, 1)), B, TypeError, "x has dtype that NumPy has not; wanted float32"),
    (Library(A, dtype=(2, 32, 4)), B, TypeError, "x has dtype that NumPy has not; wanted float32"),
    (Library(A, device=(1, 0)), B, TypeError, r"x is a \S*Library in host memory; wanted an array of a CUDA GPU"),
    (Library(A, device=(10, 0)), B, TypeError, r"x is a \S*Library; wanted an array of a CUDA GPU"),
    (Library(A, device=(2, 1)), B, ValueError, "x is on GPU 1; wanted GPU 0, the current one"),
    (Library(A.T), B, ValueError, r"x has shape \(4, 4\) and strides \(4, 16\); wanted C order"),
    (Library(B), Library(B), ValueError, "y shares memory with x"),
    (Library(A), Library(B, read_only=True), ValueError, "y is read-only; wanted a writable array"),
    (library(2, managed=FAILS, tensor=FAILS)(A), B, TypeError, r"x is a \S*Library; wanted a GPU array"),
    (type("NoCapsule", (Exchange,), {"__dlpack_c_exchange_api__": 64})(A), B, TypeError, r"x is a \S*NoCapsule"),
    (library(tensor=FAILS)(A), B, TypeError, r"x is a \S*Library that DLPack cannot describe: .*internal function$"),
    (exported(A), library(managed=FAILS)(B), TypeError, r"y is a \S*Library that DLPack cannot describe: "),
]  # fmt: skip


@pytest.mark.parametrize(("x", "y", "error", "message"), REFUSED, ids=range(len(REFUSED)))
def test_nothing_is_launched_on_a_bad_array(
    fake: FakeCuda, x: Any, y: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^doublify: {message}"):
        fake.doublify(x, exported(y) if y is B else y)
    assert fake.log() == [] and not Library.lent


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


def test_tensors_that_pytorchs_dlpack_refuses_are_refused(fake: FakeCuda) -> None:
    class Tensor(library()):  # type: ignore[misc]
        requires_grad = False
        conj = False

        def is_conj(self) -> bool:
            return self.conj

    x, y = arrays()
    fake.doublify(Tensor(x), Tensor(y))
    learns, conjugated = Tensor(x), Tensor(x.view(np.complex64))
    learns.requires_grad = True
    with pytest.raises(ValueError, match=r"^doublify: x requires a gradient, .*; wanted x\.detach\(\)"):
        fake.doublify(learns, Tensor(y))
    assert fake.shown("complex64", conjugated) == 8
    conjugated.conj = True
    with pytest.raises(ValueError, match=r"^array_complex64: x is conjugated, .*; wanted x\.resolve_conj\(\)"):
        fake.shown("complex64", conjugated)


def test_an_error_of_the_array_itself_is_not_swallowed(fake: FakeCuda) -> None:
    class NeedsGradient:
        @property
        def __cuda_array_interface__(self) -> dict[str, object]:
            raise RuntimeError("use tensor.detach()")

    with pytest.raises(RuntimeError, match="detach"):
        fake.doublify(NeedsGradient(), exported(B))


def test_pytorch_has_the_functions(fake: FakeCuda) -> None:
    torch = pytest.importorskip("torch")
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip(f"PyTorch {torch.__version__} has none")
    with pytest.raises(TypeError, match=r"^doublify: x is a torch\.Tensor in host memory"):
        fake.doublify(torch.ones(3), torch.ones(3))
    with pytest.raises(TypeError, match=r"^doublify: x is a torch\.Tensor that DLPack cannot describe: [^\n]*$"):
        fake.doublify(torch.ones(3).to_sparse(), torch.ones(3))


# --- element types ---------------------------------------------------------------------------------------------------

WHOLE = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
ELEMENTS = ["bool", *WHOLE, "float32", "float64", "complex64", "complex128"]
KNEE = np.dtype([("start", "<f4"), ("slope", "<f4"), ("order", "<i4")])


@pytest.mark.parametrize("wanted", ELEMENTS)
def test_arrays_of_every_element_type_and_of_no_other(fake: FakeCuda, wanted: str) -> None:
    for came in ELEMENTS:
        array = np.zeros(3, came)
        for given in (Exported((3,), array.dtype.str), of_cupy(array), Library(array)):
            if came == wanted:
                assert fake.shown(wanted, given) == 3
            else:
                with pytest.raises(TypeError, match=f"^array_{wanted}: x has dtype {came}; wanted {wanted}$"):
                    fake.shown(wanted, given)


def test_names_of_one_type_and_structs_of_one_size(fake: FakeCuda) -> None:
    for name, typestr in (("longlong", "<i8"), ("ulonglong", "<u8"), ("int8", "<i1")):
        assert fake.shown(name, Exported((3,), typestr)) == 3
    knees = [Exported((3,), typestr, address=0x7F00_0000_0004) for typestr in ("|V12", "|S12", "<V12")]
    for knee in [*knees, of_cupy(np.zeros(3, KNEE)), Library(np.zeros(3, KNEE), dtype=(2, 32, 3))]:
        assert fake.shown("knee", knee) == 3
    for typestr in ("<f4", "|V24", "|V1", "f", ""):
        with pytest.raises(TypeError, match="^array_knee: x has dtype .*; wanted 12 bytes each$"):
            fake.shown("knee", Exported((3,), typestr))
    for name, typestr, alignment in (("complex128", "<c16", 16), ("knee", "|V12", 4)):
        with pytest.raises(ValueError, match=f"x starts at address .*; wanted a multiple of {alignment}, and not 0"):
            fake.shown(name, Exported((3,), typestr, address=0x7F00_0000_0000 + alignment // 2))


# --- streams ---------------------------------------------------------------------------------------------------------

STREAMS = {
    "int": 64,
    "CuPy": SimpleNamespace(ptr=64),
    "PyCUDA": SimpleNamespace(handle=64),
    "Numba": SimpleNamespace(handle=ctypes.c_void_p(64)),
    "PyTorch": SimpleNamespace(cuda_stream=64),
    "protocol": SimpleNamespace(__cuda_stream__=lambda: (0, 64), ptr=1),
}


def test_a_named_stream_is_used(fake: FakeCuda) -> None:
    x, y = arrays()
    for kind, stream in STREAMS.items():
        fake.set()
        assert fake.doublify(exported(x), exported(y), stream=stream) == ["launch 16 64"], kind
    fake.set()
    assert fake.doublify(exported(x), exported(y), SimpleNamespace(handle=ctypes.c_void_p(0))) == ["launch 16 0"]


def test_the_default_stream(fake: FakeCuda, cupys_stream: SimpleNamespace) -> None:
    """CuPy's current one if an array is CuPy's, else that of the first library that says which, else the legacy one."""
    Current, Other = library(stream=64), library(stream=128)
    x, y = arrays()
    for source, target, lines in [
        (exported(x), exported(y), ["launch 16 0"]),
        (exported(x), of_cupy(y), ["launch 16 32"]),
        (Current(x), Current(y), ["launch 16 64"]),
        (exported(x), Current(y), ["launch 16 64"]),
        (Current(x), Other(y), ["record 128", "wait 64", "launch 16 64"]),
        (Current(x), exported(y, stream=256), ["record 256", "wait 64", "launch 16 64"]),
        (Current(x), of_cupy(y), ["record 64", "wait 32", "launch 16 32"]),
        (of_cupy(x), Current(y), ["record 64", "wait 32", "launch 16 32"]),
    ]:
        fake.set()
        assert fake.doublify(source, target) == lines
    cupys_stream.ptr = 96
    fake.set()
    assert fake.doublify(of_cupy(x), of_cupy(y)) == ["launch 16 96"], "CuPy is asked at every call"


@pytest.mark.parametrize(
    ("producer", "consumer", "waits"),
    [(64, 128, True), (64, 64, False), (1, 0, False), (0, 1, False), (1, 64, True), (None, 64, False)],
)
def test_the_kernel_waits_once_for_the_stream_of_its_arrays(
    fake: FakeCuda, producer: int | None, consumer: int, waits: bool
) -> None:
    x, y = arrays()
    lines = [*([f"record {producer}", f"wait {consumer}"] if waits else []), f"launch 16 {consumer}"]
    if producer != 0:  # __cuda_array_interface__ has no stream 0
        assert fake.doublify(exported(x, stream=producer), exported(y), consumer) == lines
    if producer is not None:
        Producing = library(stream=producer)
        fake.set()
        assert fake.doublify(Producing(x), Producing(y), consumer) == lines


def test_no_stream_is_waited_for_where_there_is_no_element(fake: FakeCuda) -> None:
    empty = np.empty(0, np.float32)
    assert fake.doublify(exported(empty, stream=64), exported(empty), 128) == ["launch 0 128"]


# --- the launch ------------------------------------------------------------------------------------------------------


def test_a_cuda_error_becomes_an_exception_and_leaves_nothing_behind(fake: FakeCuda) -> None:
    x, y = arrays()
    fake.set(error=1)
    with pytest.raises(RuntimeError, match=r"^doublify: cudaErrorFake: a fake error$"):
        fake.doublify(exported(x), exported(y))
    assert fake.log()[-1] == "cleared"


def test_the_gil_is_free_during_the_launch(fake: FakeCuda) -> None:
    x, y = arrays()
    fake.set(waits=True)
    thread = threading.Thread(target=fake.doublify, args=(exported(x), exported(y)))
    thread.start()
    while not fake.has_begun():
        time.sleep(0.001)
    fake.release()
    thread.join()
    assert fake.log()[-1] == "released", "this thread stood still until the launch gave up"
