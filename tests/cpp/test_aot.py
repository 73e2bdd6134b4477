"""The AOT binding without a GPU: arguments refused, and the whole road to the launch on a fake CUDA runtime."""

import ctypes
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cupy
import numpy as np
import pytest
from fake_cuda import FakeCuda
from protocols import Exported, exported, of_cupy

import fourways_aot

X, Y = 0x7F00_0000_0000, 0x7F00_0010_0000  # addresses that nobody reads: the call ends before


def torch_like_cpu_tensor() -> object:
    return SimpleNamespace(__dlpack_device__=lambda: (1, 0), __dlpack__=None)


# --- arguments, checked before anything is asked of CUDA -------------------------------------------------------------

GOOD = Exported(address=Y)
REFUSED: list[tuple[object, object, type[Exception], str]] = [
    (Exported(typestr="<f8"), GOOD, TypeError, "x has dtype float64; wanted float32"),
    (Exported(), Exported(typestr="<i4", address=Y), TypeError, "y has dtype int32; wanted float32"),
    (Exported(typestr=">f4"), GOOD, TypeError, "x has dtype >f4; wanted float32"),
    (Exported(typestr="f4"), GOOD, TypeError, "x has dtype f4; wanted float32"),
    (Exported(typestr="=f4"), GOOD, TypeError, "x has dtype =f4; wanted float32"),
    (Exported(typestr="no type"), GOOD, TypeError, "x has dtype no type; wanted float32"),
    ([1.0], GOOD, TypeError, "x is a list; wanted a GPU array"),
    (None, GOOD, TypeError, "x is a NoneType; wanted a GPU array"),
    (np.zeros((4, 4), np.float32), GOOD, TypeError, "x is a numpy.ndarray in host memory; wanted"),
    (Exported(), torch_like_cpu_tensor(), TypeError, "y is a types.SimpleNamespace in host memory; wanted"),
    (cupy.ndarray, GOOD, TypeError, "x has a broken __cuda_array_interface__"),
    (SimpleNamespace(__cuda_array_interface__={}), GOOD, TypeError, "x has a broken .*: .*data"),
    (Exported(data=X), GOOD, TypeError, "x has a broken .*"),
    (Exported(mask=X), GOOD, TypeError, "x has a broken .*mask"),
    (Exported(typestr=4), GOOD, TypeError, "x has a broken .*"),
    (Exported(strides=(16,)), GOOD, TypeError, "x has 1 strides and 2 dimensions"),
    (Exported(strides=16), GOOD, TypeError, "x has a broken .*"),
    (Exported(4), GOOD, TypeError, "x has a broken .*"),  # type: ignore[arg-type]
    (Exported(("4", 4)), GOOD, TypeError, "x has a broken .*"),  # type: ignore[arg-type]
    (Exported((2**70, 4)), GOOD, TypeError, "x has a broken .*"),
    (Exported(strides=(16.0, 4)), GOOD, TypeError, "x has a broken .*"),
    (Exported(strides=(16, 2**64)), GOOD, TypeError, "x has a broken .*"),
    (Exported(address=2**70), GOOD, TypeError, "x has a broken .*"),
    (Exported(address="there"), GOOD, TypeError, "x has a broken .*"),  # type: ignore[arg-type]
    (Exported(stream="s"), GOOD, TypeError, "x has a broken .*: doublify: x's stream is a str; wanted None, a stream"),
    (Exported(strides=(4, 16)), GOOD, ValueError, r"x has shape \(4, 4\) and strides \(4, 16\); wanted C order"),
    (Exported(), Exported(strides=(32, 4), address=Y), ValueError, r"y .*strides \(32, 4\); wanted C order"),
    (Exported(), Exported(read_only=True, address=Y), ValueError, "y is read-only; wanted a writable array"),
    (Exported((16,)), GOOD, ValueError, r"y has shape \(4, 4\); wanted \(16,\), the shape of x"),
    (Exported((2, 4)), GOOD, ValueError, r"y has shape \(4, 4\); wanted \(2, 4\), the shape of x"),
    (Exported((-1, 4)), GOOD, ValueError, r"x has shape \(-1, 4\); wanted extents from 0 up"),
    (Exported((2**40, 2**40)), GOOD, ValueError, "x has shape .*; wanted extents"),
    (Exported(address=X + 2), GOOD, ValueError, "x starts at address .*; wanted a multiple of 4"),
    (Exported(address=0), GOOD, ValueError, "x starts at address 0; wanted"),
    (GOOD, GOOD, ValueError, "y shares memory with x; wanted separate arrays"),
    (Exported(address=Y - 60), GOOD, ValueError, "y shares memory with x"),
    (Exported(address=Y + 60), GOOD, ValueError, "y shares memory with x"),
]


@pytest.mark.parametrize(("x", "y", "error", "message"), REFUSED)
def test_a_bad_argument_is_named_with_what_came_and_what_was_wanted(
    x: object, y: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^doublify: {message}"):
        fourways_aot.doublify(x, y)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((4, 4)), "x has dtype float64; wanted float32"),
        (np.zeros((4, 4), np.float32, order="F"), r"x has shape \(4, 4\) and strides \(4, 16\); wanted C order"),
        (np.zeros((4, 8), np.float32)[:, ::2], "x has shape .* and strides .*; wanted C order"),
    ],
)
def test_cupy_arrays_are_checked_too(x: np.ndarray, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^doublify: {message}"):
        fourways_aot.doublify(of_cupy(x), of_cupy(np.zeros((4, 4), np.float32)))


@pytest.mark.parametrize(
    ("stream", "error"),
    [("fast", TypeError), (True, TypeError), (1.5, TypeError), (-4, ValueError), (2**70, ValueError)],
)
def test_a_bad_stream_is_refused(stream: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^doublify: stream is .*; wanted"):
        fourways_aot.doublify(Exported(), GOOD, stream=stream)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [((GOOD,), {}), ((), {"y": GOOD}), ((GOOD,) * 4, {}), ((GOOD,) * 2, {"x": GOOD}), ((GOOD,) * 2, {"z": GOOD})],
)
def test_a_missing_or_odd_argument_is_refused_with_the_signature(arguments: tuple, named: dict[str, object]) -> None:
    with pytest.raises(
        TypeError, match=r"^doublify\(\): incompatible[^1]*1\. \(x: object, y: object, stream: object = None"
    ):
        fourways_aot.doublify(*arguments, **named)


def test_arguments_may_be_named() -> None:
    with pytest.raises(TypeError, match="^doublify: x is a str"):
        fourways_aot.doublify(stream=None, y=GOOD, x="x")


def test_an_error_of_the_array_itself_is_not_swallowed() -> None:
    class NeedsGradient:
        @property
        def __cuda_array_interface__(self) -> dict[str, object]:
            raise RuntimeError("use tensor.detach()")

    with pytest.raises(RuntimeError, match="detach"):
        fourways_aot.doublify(NeedsGradient(), GOOD)


def driver_here() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.mark.skipif(driver_here(), reason="there is a driver here")
@pytest.mark.parametrize("size", [0, 16])
def test_without_a_driver_a_good_call_says_so(size: int) -> None:
    with pytest.raises(RuntimeError, match=r"^doublify: cudaErrorInsufficientDriver: .*a driver as new as"):
        fourways_aot.doublify(Exported((size,)), Exported((size,), address=Y))


def test_the_module_describes_itself(root: Path) -> None:
    assert f'version = "{fourways_aot.__version__}"' in (root / "pyproject.toml").read_text(encoding="utf-8")
    assert fourways_aot.cuda_version.split(".")[0].isdigit()
    assert fourways_aot.built_for and all(code.startswith(("sm_", "compute_")) for code in fourways_aot.built_for)
    assert fourways_aot.doublify.__doc__.startswith("doublify(x: object, y: object, stream: object = None) -> None")


# --- from the argument to the launch, on a fake CUDA runtime ----------------------------------------------------------


def arrays(shape: tuple[int, ...] = (4, 4)) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(1).standard_normal(shape, np.float32), np.full(shape, np.nan, np.float32)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (1,), (33,), (4, 4), (2, 3, 5), (1, 1, 1, 1, 2)])
@pytest.mark.parametrize("strides", [True, False])
def test_arrays_of_any_shape_reach_the_launch(fake: FakeCuda, shape: tuple[int, ...], strides: bool) -> None:
    x, y = arrays(shape)
    described = {"strides": x.strides} if strides else {}
    assert fake.doublify(exported(x, read_only=True, **described), exported(y, **described)) == [f"launch {x.size} 0"]
    np.testing.assert_array_equal(y, 2 * x)


def test_whole_numbers_of_numpy_are_whole_numbers(fake: FakeCuda) -> None:
    x, y = arrays((3, 2))
    x_described = Exported((np.int64(3), np.int32(2)), address=x.ctypes.data, strides=(np.int64(8), np.int64(4)))
    assert fake.doublify(x_described, exported(y)) == ["launch 6 0"]
    np.testing.assert_array_equal(y, 2 * x)


def test_strides_of_extents_of_one_do_not_matter(fake: FakeCuda) -> None:
    x, y = arrays((3, 1, 2))
    fake.doublify(exported(x, strides=(8, 999, 4)), exported(y))
    np.testing.assert_array_equal(y, 2 * x)


def test_nothing_is_launched_on_a_bad_argument(fake: FakeCuda) -> None:
    for x, y, error, message in REFUSED:
        with pytest.raises(error, match=f"^doublify: {message}"):
            fake.doublify(x, y)
    assert fake.log() == []


def test_memory_that_cuda_calls_host_memory_is_refused(fake: FakeCuda) -> None:
    x, y = arrays()
    fake.set(host=y.ctypes.data)
    with pytest.raises(TypeError, match=r"^doublify: y is in host memory; wanted an array of a GPU"):
        fake.doublify(exported(x), exported(y))
    assert fake.log() == []


def test_arrays_of_another_gpu_than_the_current_one_are_refused(
    fake: FakeCuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = arrays()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with pytest.raises(ValueError, match=r"^doublify: y is on GPU 1; wanted GPU 0, the current one"):
        fake.doublify(of_cupy(x), of_cupy(y, device=1))
    fake.set(device=1)
    with pytest.raises(ValueError, match=r"^doublify: x is on GPU 0; wanted GPU 1, the current one"):
        fake.doublify(exported(x), exported(y))
    assert fake.log() == []


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


# --- streams ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stream",
    [
        64,
        SimpleNamespace(ptr=64),
        SimpleNamespace(handle=64),
        SimpleNamespace(handle=ctypes.c_void_p(64)),
        SimpleNamespace(cuda_stream=64),
        SimpleNamespace(__cuda_stream__=lambda: (0, 64), ptr=1),
    ],
    ids=["int", "cupy", "pycuda", "numba", "torch", "protocol"],
)
def test_a_named_stream_is_used(fake: FakeCuda, stream: object) -> None:
    x, y = arrays()
    assert fake.doublify(exported(x), exported(y), stream=stream) == ["launch 16 64"]


def test_the_null_stream_of_ctypes_is_none_inside(fake: FakeCuda) -> None:
    x, y = arrays()
    assert fake.doublify(exported(x), exported(y), SimpleNamespace(handle=ctypes.c_void_p(0))) == ["launch 16 0"]


def test_without_a_named_stream_it_is_cupys_current_one_for_cupys_arrays(
    fake: FakeCuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = arrays()
    current = SimpleNamespace(ptr=64)
    cuda = SimpleNamespace(get_current_stream=lambda: current)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    assert fake.doublify(exported(x), exported(y)) == ["launch 16 0"], "the legacy default stream"
    assert fake.doublify(exported(x), of_cupy(y))[1:] == ["launch 16 64"]
    current.ptr = 128
    assert fake.doublify(of_cupy(x), of_cupy(y))[2:] == ["launch 16 128"]
    assert fake.doublify(of_cupy(x), of_cupy(y), stream=0)[3:] == ["launch 16 0"]


@pytest.mark.parametrize(
    ("producer", "consumer", "waits"),
    [(64, 128, True), (64, 64, False), (1, 0, False), (1, 64, True), (None, 64, False)],
)
def test_the_kernel_waits_for_the_stream_that_the_array_names(
    fake: FakeCuda, producer: int | None, consumer: int, waits: bool
) -> None:
    x, y = arrays()
    expected = [f"record {producer}", f"wait {consumer}"] if waits else []
    assert fake.doublify(exported(x, stream=producer), exported(y), consumer) == [*expected, f"launch 16 {consumer}"]


# --- DLPack ----------------------------------------------------------------------------------------------------------


class Dlpack:
    """A NumPy array that says in DLPack that it is on a GPU. `old`: one that gives the capsule of before DLPack 1.0."""

    def __init__(self, array: np.ndarray, device: int = 2, old: bool = False) -> None:
        self.array, self.device, self.old = array, device, old
        self.streams: list[int] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)

    def __dlpack__(self, *, stream: int, **more: Any) -> object:
        self.streams.append(stream)
        capsule = self.array.__dlpack__(**({} if self.old else more))
        name, device_at = (b"dltensor", 8) if self.old else (b"dltensor_versioned", 40)
        get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
        get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        ctypes.c_int32.from_address(get_pointer(capsule, name) + device_at).value = self.device
        return capsule


@pytest.mark.parametrize("old", [False, True], ids=["1.0", "before 1.0"])
@pytest.mark.parametrize("device", [2, 13], ids=["GPU", "managed"])
def test_dlpack_arrays_are_told_the_stream_and_given_back(fake: FakeCuda, old: bool, device: int) -> None:
    x, y = arrays((3, 5))
    references = sys.getrefcount(x)
    source, target = Dlpack(x, device, old), Dlpack(y, device, old)
    assert fake.doublify(source, target) == ["launch 15 0"]
    assert fake.doublify(source, target, stream=64)[1:] == ["record 1", "wait 64", "launch 15 64"]
    assert source.streams == target.streams == [1, 1], "DLPack's name of the legacy default stream is 1"
    np.testing.assert_array_equal(y, 2 * x)
    del source
    assert sys.getrefcount(x) == references


def test_dlpack_arrays_are_checked(fake: FakeCuda) -> None:
    x, y = arrays()
    y_locked = y.view()
    y_locked.flags.writeable = False
    for bad, message in [
        ((Dlpack(x.astype(np.float64)), Dlpack(y)), "x has dtype float64; wanted float32"),
        ((Dlpack(x.astype(bool)), Dlpack(y)), "x has dtype bool; wanted float32"),
        ((Dlpack(x.T), Dlpack(y)), "x has shape .* and strides .*; wanted C order"),
        ((Dlpack(x), Dlpack(y_locked)), "y is read-only; wanted"),
        ((Dlpack(x, device=3), Dlpack(y)), r"x is a \S*Dlpack in host memory; wanted"),
        ((Dlpack(x, device=10), Dlpack(y)), r"x is a \S*Dlpack; wanted an array of a CUDA GPU"),
        (
            (SimpleNamespace(__dlpack_device__=lambda: (2, 0), __dlpack__=lambda **_: 1), y),
            "x gave a int of __dlpack__; wanted a capsule",
        ),
    ]:
        with pytest.raises((TypeError, ValueError), match=f"^doublify: {message}"):
            fake.doublify(*bad)
    assert fake.log() == []
