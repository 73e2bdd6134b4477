"""A checked launch refuses what does not fit, in words; the rest goes on as the library wants it. Without a GPU."""

import ctypes
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cupy
import numpy as np
import pytest

from fourways import building, checking, kernels

SCALE = 'extern "C" __global__ void scale(const float *x, float *y, float a, int n) {}'
MANY = """
#include <cuda_fp16.h>
struct Range { float low; double high; };
extern "C" __global__ void many(
    const float *x, float *y, const float2 *z, const Range *ranges, void *raw, bool b, signed char i1, unsigned char u1,
    int i4, long long i8, unsigned long long u8, __half f2, float f4, double f8, float2 c8, double2 c16, Range range) {}
"""
RANGE = np.dtype([("low", "f4"), ("high", "f8")], align=True)


class FakeKernel(cupy.RawKernel):
    """CuPy's own class, but a call only notes what it got."""

    def __call__(self, grid: Any, block: Any, args: Any, **options: Any) -> None:
        self.noted.append((grid, block, args, options))


def cupy_kernel(text: str, name: str, options: tuple[str, ...] = ()) -> Any:
    kernel = FakeKernel(text, name, options)
    kernel.noted = []
    return kernel


def on_gpu(shape: tuple[int, ...] = (6,), dtype: Any = "f4", strides: Any = None, device: int = 0) -> cupy.ndarray:
    """A CuPy array of memory that is not there: nobody may look at its elements."""
    memory = cupy.cuda.UnownedMemory(4096, 4096, None, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0), strides)


def interface(
    typestr: str = "<f4", strides: Any = None, read_only: bool = False, address: int = 4096, shape: Any = (2, 3)
) -> Any:
    """Somebody else's array."""
    known = {"shape": shape, "typestr": typestr, "strides": strides, "data": (address, read_only), "version": 3}
    return SimpleNamespace(__cuda_array_interface__=known)


@pytest.fixture(autouse=True)
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of them is the current one; memory above 8192 lies on the other, memory below 4096 is the host's."""
    runtime = cupy.cuda.runtime
    monkeypatch.setattr(runtime, "getDeviceCount", lambda: 2)
    monkeypatch.setattr(runtime, "getDevice", lambda: 0)
    monkeypatch.setattr(
        runtime,
        "pointerGetAttributes",
        lambda at: runtime.PointerAttributes(int(at > 8192), at, 0, 2 if at >= 4096 else 0),
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> kernels.Signature:
    file = tmp_path_factory.mktemp("launch") / "many.cu"
    file.write_text(MANY)
    return building.signatures(file)["many"]


@pytest.fixture
def takes(many: kernels.Signature) -> Callable[..., Any]:
    """What a kernel of these parameters of `many` gets for these values, by CuPy."""

    def call(names: str, *values: Any) -> tuple:
        parameters = tuple(each for name in names.split() for each in many.parameters if each.name == name)
        kernel = cupy_kernel(MANY, "many")
        checking.checked(kernel, kernels.Signature("many", parameters))((1,), (1,), values)
        return kernel.noted[0][2]

    return call


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """As much of `pycuda.driver` as a call needs."""

    class DeviceAllocation:
        def __int__(self) -> int:
            return 4096

    class ArgumentHandler:
        def __init__(self, array: Any) -> None:
            self.array = array

    class Out(ArgumentHandler):
        pass

    class Managed:
        pass

    class Function:
        def __init__(self) -> None:
            self.noted: list[bytes] = []

        def __call__(self, *args: Any, block: Any, **options: Any) -> float:
            self.noted.append(packed(args))
            return 0.5

    fake = SimpleNamespace(
        Function=Function, DeviceAllocation=DeviceAllocation, PooledDeviceAllocation=DeviceAllocation
    )
    fake.ArgumentHandler, fake.In, fake.Out = ArgumentHandler, type("In", (ArgumentHandler,), {}), Out
    fake.ManagedAllocationOrStub = Managed
    monkeypatch.setitem(sys.modules, "pycuda.driver", fake)
    return fake


def packed(args: tuple) -> bytes:
    """The arguments as PyCUDA packs them: it knows no bool and no half, and leaves no gap before bytes."""
    letters, values = "", []
    for arg in args:
        if isinstance(arg, np.complexfloating):
            letters += {"F": "ff", "D": "dd"}[arg.dtype.char]
            values += [float(arg.real), float(arg.imag)]
        elif isinstance(arg, np.number):
            assert arg.dtype.char in "bBhHiIlLqQfd"
            letters += arg.dtype.char
            values.append(arg)
        elif isinstance(arg, np.void):
            letters += f"{arg.itemsize}s"
            values.append(bytes(memoryview(arg)))
        else:
            assert not isinstance(arg, (bool, int, float, np.generic))
            letters += "P"
            values.append(4096)
    return struct.pack(letters, *values)


def test_what_fits_is_handed_on_with_all_options() -> None:
    kernel = cupy_kernel(SCALE, "scale")
    launch = checking.checked(kernel)
    arguments = (on_gpu(), on_gpu(), np.float32(2), np.int32(3))
    assert launch((1,), (2,), arguments, shared_mem=8, stream="mine") is None
    launch((1,), (2,), list(arguments))
    assert kernel.noted == [((1,), (2,), arguments, {"shared_mem": 8, "stream": "mine"}), ((1,), (2,), arguments, {})]
    assert all(got is came for got, came in zip(kernel.noted[0][2], arguments, strict=True))
    assert launch.kernel is kernel and launch.__name__ == "scale"
    assert launch.__doc__ == str(launch.signature) == "scale(const float *x, float *y, float a, int n)"


X, Y, A, N = "xyan"
GOOD = {X: on_gpu(), Y: on_gpu(), A: np.float32(2), N: np.int32(3)}
TENSOR = type("Tensor", (), {"__cuda_array_interface__": property(lambda self: {}), "shape": (3,), "dtype": "float32"})


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({Y: on_gpu(dtype="f8")}, TypeError, "argument 2, y: an array of float64 came; float32 is wanted"),
        ({Y: on_gpu(dtype=">f4")}, TypeError, "argument 2, y: an array of >f4 came; float32 is wanted"),
        ({X: on_gpu(dtype="c8")}, TypeError, "argument 1, x: an array of complex64 came; float32 is wanted"),
        (
            {X: np.zeros(3, "f4")},
            TypeError,
            "argument 1, x: a NumPy array of float32 came; a CuPy array of float32 is wanted (cupy.asarray makes one)",
        ),
        ({X: np.zeros(1, "f4")}, TypeError, "argument 1, x: a NumPy array of float32 came; a CuPy array"),
        ({X: np.array(1, "f4")}, TypeError, "argument 1, x: a NumPy array of float32 came; a CuPy array"),
        ({X: TENSOR()}, TypeError, "an array of float32 came; a CuPy array of float32 is wanted (cupy.asarray makes"),
        ({X: 4096}, TypeError, "argument 1, x: the number 4096 came; a CuPy array of float32 is wanted"),
        ({X: np.uint64(4096)}, TypeError, "argument 1, x: the number 4096 came; a CuPy array of float32 is wanted"),
        ({X: [1.0]}, TypeError, "argument 1, x: an object of type list came; a CuPy array of float32 is wanted"),
        ({X: on_gpu(device=1)}, ValueError, "argument 1, x: an array on GPU 1 came; one on the current GPU, 0, is"),
        (
            {Y: on_gpu(strides=(8,))},
            ValueError,
            "argument 2, y: an array with gaps or in another order came; C order without gaps is wanted",
        ),
        (
            {Y: on_gpu((5,), "u1")[1:5].view("f4")},
            ValueError,
            "argument 2, y: an array at address 0x1001 came; an address that is a multiple of 4 bytes is wanted",
        ),
        ({Y: on_gpu((2, 3)).T}, ValueError, "argument 2, y: an array with gaps or in another order came"),
        ({A: on_gpu((1,))}, TypeError, "argument 3, a: an array of float32 came; a number, float32, is wanted"),
        ({A: on_gpu(())}, TypeError, "a number, float32, is wanted (.item() fetches it)"),
        (
            {A: np.ones(1, "f4")},
            TypeError,
            "argument 3, a: a NumPy array of float32 came; a number, float32, is wanted",
        ),
        ({A: None}, TypeError, "argument 3, a: None came; a number, float32, is wanted"),
        ({A: "2"}, TypeError, "argument 3, a: an object of type str came; a number, float32, is wanted"),
        ({A: 1j}, TypeError, "argument 3, a: the number 1j came; a real number, float32, is wanted"),
        (
            {A: 1e39},
            ValueError,
            "argument 3, a: the number 1e+39 came; one from -3.4028235e+38 to 3.4028235e+38, float32,",
        ),
        ({A: 10**400}, ValueError, "argument 3, a: a number of 1329 bits came; one from -3.4028235e+38"),
        ({N: np.complex64(1)}, TypeError, "argument 4, n: the number (1+0j) came; a whole number, int32, is wanted"),
        ({N: 2.5}, ValueError, "argument 4, n: the number 2.5 came; a whole number, int32, is wanted"),
        ({N: np.float32(np.nan)}, ValueError, "argument 4, n: the number nan came; a whole number, int32, is wanted"),
        ({N: float("inf")}, ValueError, "argument 4, n: the number inf came; a whole number, int32, is wanted"),
        (
            {N: 2**31},
            ValueError,
            "argument 4, n: the number 2147483648 came; one from -2147483648 to 2147483647, int32,",
        ),
        ({N: np.int64(-(2**40))}, ValueError, "argument 4, n: the number -1099511627776 came; one from"),
        ({N: 3e9}, ValueError, "argument 4, n: the number 3000000000.0 came; one from -2147483648 to 2147483647"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_launched(wrong: dict, error: type, words: str) -> None:
    kernel = cupy_kernel(SCALE, "scale")
    with pytest.raises(error) as raised:
        checking.checked(kernel)((1,), (1,), tuple((GOOD | wrong).values()))
    assert str(raised.value).startswith("scale: argument ")
    assert words in str(raised.value)
    assert kernel.noted == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "scale: 0 arguments came; 4 are wanted, scale(const float *x, float *y, float a, int n)"),
        ((on_gpu(),), "scale: 1 argument came; 4 are wanted"),
        ((*GOOD.values(), 1), "scale: 5 arguments came; 4 are wanted"),
        (on_gpu((4,)), "scale: an array of float32 came; a tuple of the arguments is wanted: (x,) is a tuple of one"),
        (np.zeros(4), "scale: a NumPy array of float64 came; a tuple of the arguments is wanted"),
        (3, "scale: the number 3 came; a tuple of the arguments is wanted"),
    ],
)
def test_the_arguments_as_a_whole(arguments: Any, words: str) -> None:
    kernel = cupy_kernel(SCALE, "scale")
    with pytest.raises(TypeError) as raised:
        checking.checked(kernel)((1,), (1,), arguments)
    assert str(raised.value).startswith(words)
    assert kernel.noted == []


def test_a_kernel_without_parameters() -> None:
    kernel = cupy_kernel('extern "C" __global__ void nothing() {}', "nothing")
    launch = checking.checked(kernel)
    launch((1,), (1,), ())
    with pytest.raises(TypeError, match=r"nothing: 1 argument came; 0 are wanted, nothing\(\)"):
        launch((1,), (1,), (1,))
    assert len(kernel.noted) == 1


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("b", 2.5, np.bool_(True)),
        ("b", 0, np.bool_(False)),
        ("i1", True, np.int8(1)),
        ("i1", np.bool_(True), np.int8(1)),
        ("u1", 255.0, np.uint8(255)),
        ("i4", np.int64(-7), np.int32(-7)),
        ("i4", np.array(7, "u2"), np.int32(7)),
        ("i4", np.longlong(7), np.int32(7)),
        ("i8", -(2**63), np.int64(-(2**63))),
        ("i8", np.uint64(5), np.int64(5)),
        ("u8", 2**64 - 1, np.uint64(2**64 - 1)),
        ("f2", 0.1, np.float16(0.1)),
        ("f4", 0.1, np.float32(0.1)),
        ("f4", np.float64(0.1), np.float32(0.1)),
        ("f4", np.float16(0.5), np.float32(0.5)),
        ("f4", 3, np.float32(3)),
        ("f4", 2**54 + 2**30 + 1, np.float32(2**54 + 2**31)),  # rounded once; through a double it would be 2**54
        ("f4", -np.inf, np.float32(-np.inf)),
        ("f4", np.nan, np.float32(np.nan)),
        ("f4", 1e-60, np.float32(0)),
        ("f8", 0.1, np.float64(0.1)),
        ("f8", np.float32(0.5), np.float64(0.5)),
        ("f8", np.inf, np.float64(np.inf)),
        ("c8", 2, np.complex64(2)),
        ("c8", 1 + 2j, np.complex64(1 + 2j)),
        ("c16", np.float32(0.5), np.complex128(0.5)),
    ],
)
def test_numbers_become_what_c_makes_of_them(takes: Any, name: str, value: Any, expected: np.generic) -> None:
    (got,) = takes(name, value)
    as_cupy_takes_it = {int: np.int64, float: np.float64}.get(type(got), lambda same: same)(got)
    assert as_cupy_takes_it.dtype == expected.dtype
    np.testing.assert_array_equal(as_cupy_takes_it, expected)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("f2", 7e4),
        ("f8", 10**400),
        ("c8", 1e300),
        ("c8", complex(0, 1e300)),
        ("u1", -1),
        ("u8", 2**64),
        ("i8", 2.0**63),
    ],
)
def test_numbers_out_of_range(takes: Any, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"many: argument 1, {name}: .* came; one from "):
        takes(name, value)


SIGNATURE = kernels.Signature(
    "scale",
    (
        kernels.Parameter("x", "const float *", "input", 8, 8, "float32"),
        kernels.Parameter("y", "float *", "output", 8, 8, "float32"),
        kernels.Parameter("a", "float", "scalar", 4, 4, "float32"),
        kernels.Parameter("n", "int", "scalar", 4, 4, "int32"),
    ),
)
ARRAYS = on_gpu(), on_gpu()


def test_pointers_of_all_kinds(takes: Any) -> None:
    pairs, bytes_ = on_gpu(dtype="c8"), on_gpu(dtype="u1")
    assert takes("z", pairs)[0] is pairs
    assert takes("ranges raw", bytes_, pairs)[0] is bytes_, "NumPy has no dtype for these: anything fits"
    allocation = pairs.data
    assert takes("x", allocation)[0] is allocation, "memory without a dtype"
    assert takes("x y raw", None, None, None) == (0, 0, 0), "NULL"
    assert takes("x", on_gpu((0,), strides=(4,)))[0].size == 0
    with pytest.raises(TypeError, match="z: an array of float32 came; complex64 is wanted"):
        takes("z", on_gpu())
    elsewhere = on_gpu(device=1)
    for array in (elsewhere, elsewhere.data):
        with pytest.raises(ValueError, match="ranges: an array on GPU 1 came"):
            takes("ranges", array)


def test_where_there_is_one_gpu_nobody_asks_on_which(takes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    array, asked = on_gpu(), []
    monkeypatch.setattr(cupy.cuda.runtime, "getDevice", lambda: asked.append("asked") or 0)
    takes("x", array)
    assert asked
    asked.clear()
    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 1)
    assert takes("x", array)[0] is array and not asked
    with pytest.raises(ValueError, match="x: an array on GPU 1 came"):  # CuPy tells -2 of the host's memory
        takes("x", on_gpu(device=1))


def test_a_kernel_is_wrapped_where_there_is_no_driver(takes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_driver() -> int:
        raise cupy.cuda.runtime.CUDARuntimeError(35)

    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", no_driver)
    array = on_gpu()
    assert takes("x", array)[0] is array


def test_a_struct_by_value(takes: Any) -> None:
    values = np.zeros(2, RANGE)
    values[1] = 0.5, 2.5
    for value in (values[1], values[1:].reshape(())):
        (got,) = takes("range", value)
        assert isinstance(got, np.ndarray) and got.shape == () and got.tobytes() == values[1].tobytes()
    for value, words in (
        (values[1:], "range: a NumPy array of .* came; Range of 16 bytes is wanted"),
        ((0.5, 2.5), "range: an object of type tuple came; Range of 16 bytes is wanted .as np.void"),
        (np.zeros((), "f4,f8"), r"of 12 bytes came; Range of 16 bytes is wanted .np.dtype\(..., align=True"),
        (np.zeros((), [("a", "O"), ("b", "f8")]), "of 16 bytes came; Range of 16 bytes is wanted"),
    ):
        with pytest.raises(TypeError, match=words):
            takes("range", value)


def test_textures_are_numbers_of_64_bits(takes: Any) -> None:
    texture = cupy.cuda.texture.TextureObject.__new__(cupy.cuda.texture.TextureObject)
    assert takes("u8", texture) == (texture,)
    with pytest.raises(TypeError, match="i8: an object of type TextureObject came; a number, int64, is wanted"):
        takes("i8", texture)


def test_pycuda_gets_each_argument_where_c_has_it(many: kernels.Signature, driver: SimpleNamespace) -> None:
    names = ["i1", "range", "b", "f2", "c8", "u1", "x", "c16", "i4", "y", "i8", "f4", "f8"]
    by_name = {each.name: each for each in many.parameters}
    kernel = driver.Function()
    launch = checking.checked(kernel, kernels.Signature("many", tuple(by_name[name] for name in names)))
    values = dict.fromkeys(names, 1) | {
        "range": np.array((0.5, 2.5), RANGE),
        "x": on_gpu(),
        "y": driver.DeviceAllocation(),
    }
    assert launch(*values.values(), block=(1, 1, 1), time_kernel=True) == 0.5

    class Range(ctypes.Structure):
        _fields_ = (("low", ctypes.c_float), ("high", ctypes.c_double))

    class Layout(ctypes.Structure):  # float2 and double2 start at multiples of their sizes
        _fields_ = (
            ("i1", ctypes.c_int8),
            ("range", Range),
            ("b", ctypes.c_bool),
            ("f2", ctypes.c_uint16),
            ("to_8", ctypes.c_char * 4),
            ("c8", ctypes.c_float * 2),
            ("u1", ctypes.c_uint8),
            ("x", ctypes.c_void_p),
            ("to_16", ctypes.c_char * 8),
            ("c16", ctypes.c_double * 2),
            ("i4", ctypes.c_int),
            ("y", ctypes.c_void_p),
            ("i8", ctypes.c_longlong),
            ("f4", ctypes.c_float),
            ("f8", ctypes.c_double),
        )

    assert Layout.c8.offset % 8 == 0 and Layout.c16.offset % 16 == 0
    assert len(kernel.noted[0]) == ctypes.sizeof(Layout)
    got = Layout.from_buffer_copy(kernel.noted[0])
    assert (got.range.low, got.range.high, got.f2, got.x, got.y) == (0.5, 2.5, np.float16(1).view("u2"), 4096, 4096)
    assert [*got.c8, *got.c16] == [1, 0, 1, 0]
    assert {getattr(got, name) for name in ("i1", "b", "u1", "i4", "i8", "f4", "f8")} == {1}


def test_arrays_for_pycuda(driver: SimpleNamespace) -> None:
    kernel = driver.Function()
    launch = checking.checked(kernel, SCALE)
    managed = np.zeros(3, "f4").view(type("View", (np.ndarray,), {"base": driver.ManagedAllocationOrStub()}))
    fine = [
        (on_gpu(), on_gpu()),
        (interface(), interface(strides=(12, 4))),
        (interface(read_only=True), driver.DeviceAllocation()),
        (interface(shape=(1, 3), strides=(999, 4)), interface(shape=(0, 3), strides=(999, 99), address=0)),
        (driver.In(np.zeros(3, "f4")), driver.Out(np.zeros(3, "f4"))),
        (None, managed),
    ]
    for x, y in fine:
        launch(x, y, 2, 3, block=(1, 1, 1), grid=(2, 1))
    assert len(kernel.noted) == len(fine)
    read_only = np.zeros(3, "f4")
    read_only.flags.writeable = False
    for y, error, words in (
        (interface("<f8"), TypeError, "scale: argument 2, y: an array of float64 came; float32 is wanted"),
        (interface(strides=(4, 8)), ValueError, "y: an array with gaps or in another order came"),
        (interface(read_only=True), ValueError, "y: a read-only array came; one that the kernel may write into is"),
        (interface(address=4098), ValueError, "y: an array at address 0x1002 came; an address that is a multiple of 4"),
        (
            interface(address=1024),
            TypeError,
            "y: an array in host memory came; an array of float32 on the GPU is",
        ),
        (interface(address=0), TypeError, "y: an array in host memory came"),
        (interface(address=9000), ValueError, "y: an array on GPU 1 came; one on the current GPU, 0, is wanted"),
        (
            np.zeros(3, "f4"),
            TypeError,
            r"y: a NumPy array of float32 came; an array of float32 on the GPU is wanted .pyc",
        ),
        (driver.Out(np.zeros(3, "f8")), TypeError, "y: an array of float64 came; float32 is wanted"),
        (driver.Out(read_only), ValueError, "y: a read-only array came"),
        (driver.In(np.zeros((2, 3), "f4").T), ValueError, "y: an array with gaps"),
        ((on_gpu(),), TypeError, "y: an object of type tuple came"),
        (needs_gradient(), TypeError, r"y: an array of float32 came; .*\(use detach\)"),
    ):
        with pytest.raises(error, match=words):
            launch(on_gpu(), y, 2, 3, block=(1, 1, 1))
    with pytest.raises(TypeError, match="scale: 3 arguments came; 4 are wanted"):
        launch(on_gpu(), on_gpu(), 2, block=(1, 1, 1))
    assert len(kernel.noted) == len(fine)


def needs_gradient() -> Any:
    def says(tensor: Any) -> None:
        raise RuntimeError("use detach")

    return type("Tensor", (), {"__cuda_array_interface__": property(says), "shape": (3,), "dtype": "float32"})()


def test_where_the_signature_comes_from(driver: SimpleNamespace, tmp_path: Path) -> None:
    real = 'extern "C" __global__ void real_one(REAL *y) {} __global__ void other(int *p) {}'
    for options in ("-std=c++11",), ("-dlto",), ():
        kernel = cupy_kernel(real, "real_one", ("-DREAL=double", *options))
        assert str(checking.checked(kernel).signature) == "real_one(double *y)"
    text = "#include <vector>\n" + SCALE
    assert str(checking.checked(driver.Function(), text).signature) == "scale(const float *x, float *y, float a, int n)"
    unannotated = "int one() { return 1; }\n#include <cupy/complex.cuh>\n__global__ void alone(int *p) { *p = one(); }"
    assert str(checking.checked(cupy_kernel(unannotated, "_Z5alonePi")).signature) == "alone(int *p)", (
        "as CuPy compiles"
    )


class FromCubin(FakeKernel):
    code = None


@pytest.mark.parametrize(
    ("kernel", "signature", "error", "words"),
    [
        (
            cupy.RawModule(code=SCALE),
            None,
            TypeError,
            "type RawModule came; a cupy.RawKernel, which RawModule.get_func",
        ),
        (
            cupy_kernel(SCALE, "scale"),
            3,
            TypeError,
            "the number 3 came; a signature, or the text that holds the kernel",
        ),
        (cupy_kernel(SCALE, "other"), SIGNATURE, ValueError, "the signature of scale came; that of other is wanted"),
        (FromCubin(SCALE, "scale"), None, ValueError, r"does not carry its source: give checked\(\) the text, too"),
        (cupy_kernel("int x", "scale"), None, building.BuildError, "holds no kernel"),
        ("PyCUDA's", None, ValueError, r"does not carry its source: give checked\(\) the text, too"),
        (
            "PyCUDA's",
            SCALE + "__global__ void f() {}",
            ValueError,
            r"which kernel of the text is it: scale, f\? Give",
        ),
        ("PyCUDA's", "int x;", ValueError, "the text holds no kernel"),
        (
            cupy_kernel("template <class T> __global__ void fill(T *y) {}", "_Z4fillIfEvPT_"),
            None,
            ValueError,
            r"which kernel of the text is it: fill\? Give checked\(\) the signature, building.signatures\(path",
        ),
    ],
)
def test_a_signature_that_cannot_be_had(
    driver: SimpleNamespace, kernel: Any, signature: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        checking.checked(driver.Function() if kernel == "PyCUDA's" else kernel, signature)


def test_it_is_at_the_package_s_door_and_costs_its_import_nothing() -> None:
    program = """
import sys, fourways
assert not {"numpy", "cupy", "fourways.checking"} & {*sys.modules}
from fourways import checked
assert checked is fourways.checked is fourways.checking.checked
"""
    subprocess.run([sys.executable, "-c", program], check=True)
