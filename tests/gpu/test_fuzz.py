"""Calls drawn by a seed, right ones and hostile ones, of the binding, a generated package and checked launches.

A right call must give the right answer. Any other call must raise an exception and leave its output alone. After every
call the GPU must still work, the inputs must be as before, and so must the memory around the output.
"""

import importlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import cupy
import numpy as np
import pytest
from protocols import Dlpack, Interface

import fourways
import fourways_aot
from fourways import kernels, package, toolchain
from fourways.case import Case

CALLS = 5000
SIZES = (0, 1, 2, 31, 33, 256, 1009)
MARGIN = 64  # elements before and behind each array
CASES = Path(__file__).parents[1] / "cases"


class Drawn(NamedTuple):
    """An argument, whether it is one to take, and in words what it is. `value` is what the reference gets of it."""

    given: Any
    is_right: bool
    what: str
    value: Any = None


class Memory:
    """`size` elements of an array on the GPU, with a margin on both sides."""

    def __init__(self, values: np.ndarray) -> None:
        self.size = values.size
        self._all = cupy.full(values.size + 2 * MARGIN, np.nan, np.float32)
        self.array = self._all[MARGIN : MARGIN + values.size]
        self.array[...] = cupy.asarray(values)
        self._before = self._all.get()

    def around(self) -> np.ndarray:
        now = self._all.get()
        return np.concatenate([now[:MARGIN], now[MARGIN + self.size :]])

    def is_as_before(self) -> bool:
        return np.array_equal(self._all.get(), self._before, equal_nan=True)

    def margin_is_as_before(self) -> bool:
        return bool(np.isnan(self.around()).all())


# --- arrays to take -----------------------------------------------------------------------------------------------


def of_torch(array: cupy.ndarray) -> Any:
    import torch

    return torch.as_tensor(array, device="cuda") if array.size else torch.empty(array.shape, device="cuda")


def of_numba(array: cupy.ndarray) -> Any:
    from numba import cuda

    return cuda.as_cuda_array(array)


def of_pycuda(array: cupy.ndarray) -> Any:
    from pycuda import gpuarray

    return gpuarray.GPUArray(array.shape, array.dtype, gpudata=array.data.ptr)


def with_stream(array: cupy.ndarray) -> Any:
    return Interface(array, stream=STREAMS[0].ptr)


LIBRARIES: dict[str, Callable[[cupy.ndarray], Any]] = {"CuPy": lambda array: array, "interface": Interface}
LIBRARIES |= {"interface with a stream": with_stream, "DLPack": Dlpack}
OTHERS = {"torch": ("PyTorch", of_torch), "numba": ("Numba", of_numba), "pycuda": ("PyCUDA", of_pycuda)}
STREAMS: list[cupy.cuda.Stream] = []


@pytest.fixture(scope="module", autouse=True)
def libraries_that_are_here() -> Iterator[None]:
    for package_name, (name, make) in OTHERS.items():
        if toolchain.installed(package_name):
            LIBRARIES[name] = make
    if "PyCUDA" in LIBRARIES:
        import pycuda.autoprimaryctx  # noqa: F401
    STREAMS.append(cupy.cuda.Stream(non_blocking=True))
    yield
    STREAMS.clear()


# --- arrays to refuse ---------------------------------------------------------------------------------------------


class Told:
    """An object with this __cuda_array_interface__, which may be an exception to raise."""

    def __init__(self, told: Any) -> None:
        self.told = told

    @property
    def __cuda_array_interface__(self) -> Any:
        if isinstance(self.told, Exception):
            raise self.told
        return self.told


class Capsule:
    """An object that DLPack says this of."""

    def __init__(self, device: Any, capsule: Any) -> None:
        self.device, self.capsule = device, capsule

    def __dlpack_device__(self) -> Any:
        if isinstance(self.device, Exception):
            raise self.device
        return self.device

    def __dlpack__(self, **_: Any) -> Any:
        if isinstance(self.capsule, Exception):
            raise self.capsule
        return self.capsule


HOST = np.ones(4096, np.float32)
HOSTILE: dict[str, Callable[[cupy.ndarray], Any]] = {
    "float64": lambda a: a.astype(np.float64),
    "int32": lambda a: a.view(np.int32),
    "float16": lambda a: a.astype(np.float16),
    "complex": lambda a: a.astype(np.complex64),
    "NumPy": lambda a: a.get(),
    "a number": lambda a: 3.5,
    "an address": lambda a: int(a.data.ptr),
    "a list": lambda a: [1.0] * a.size,
    "a str": lambda a: "x",
    "a class": lambda a: cupy.ndarray,
    "a raising interface": lambda a: Told(RuntimeError("no")),
    "an interface that is no dict": lambda a: Told(5),
    "an empty interface": lambda a: Told({}),
    "CPU by DLPack": lambda a: Capsule((1, 0), None),
    "a raising DLPack": lambda a: Capsule(RuntimeError("no"), None),
    "a DLPack without a capsule": lambda a: Capsule((2, 0), None),
    "a DLPack whose capsule raises": lambda a: Capsule((2, 0), BufferError("no")),
    "a DLPack device that is none": lambda a: Capsule("cuda", None),
}
LIES: dict[str, dict[str, Any]] = {
    "a negative extent": {"shape": (-3,)},
    "too many extents": {"shape": (2**40, 2**40)},
    "an extent that is a float": {"shape": (4.0,)},
    "big-endian": {"typestr": ">f4"},
    "typestr of doubles": {"typestr": "<f8"},
    "typestr that is none": {"typestr": "float"},
    "typestr that is a number": {"typestr": 4},
    "strides too many": {"strides": (4, 4)},
    "data without a flag": {"data": (1,)},
    "data that is a number": {"data": 5},
    "a mask": {"mask": object()},
    "a stream that is none": {"stream": "0"},
}
LIES_WITH_ELEMENTS: dict[str, dict[str, Any]] = {
    "host memory": {"data": (HOST.ctypes.data, False)},
    "address 0": {"data": (0, False)},
    "a negative address": {"data": (-16, False)},
}
READ_BY_PYCUDA = {"big-endian", "typestr of doubles", "typestr that is none", "typestr that is a number"}
READ_BY_PYCUDA |= {"data without a flag", "data that is a number"}


def hostile(draw: random.Random, array: cupy.ndarray, target: "Target") -> tuple[str, Any]:
    """In words and in fact: something in place of an array, which the target must refuse."""
    libraries = target.libraries
    kinds = ["hostile", "lie"]
    if array.size:
        kinds += ["lie with elements", "misaligned"]
    if array.size > 1:
        kinds += ["gaps", "interface with gaps"]
    interface = dict(array.__cuda_array_interface__)
    kind = draw.choice(kinds)
    if kind == "gaps":
        apart = cupy.full(2 * array.size, 7, np.float32)[::2]
        # a GPUArray of PyCUDA with these arguments would have no gaps
        library = draw.choice([name for name in libraries if name not in ("PyCUDA", "interface with a stream")])
        return f"gaps, {library}", LIBRARIES[library](apart)
    if kind == "interface with gaps":
        return kind, Told(interface | {"shape": (array.size // 2 + 1,), "strides": (8,)})
    if kind == "misaligned":
        bytes_ = cupy.zeros(4 * array.size + 4, np.uint8)
        misaligned = bytes_[1 : 1 + 4 * array.size].view(np.float32)
        library = draw.choice([name for name in libraries if name in ("CuPy", "interface")])
        return f"misaligned, {library}", LIBRARIES[library](misaligned)
    if kind == "hostile":
        name = draw.choice([name for name in HOSTILE if not (name == "int32" and array.size == 0)])
        return name, HOSTILE[name](array)
    lies = LIES if kind == "lie" else LIES_WITH_ELEMENTS
    # beside arrays that it does not compare, a launch need not ask for more than dtype, address and gaps
    name = draw.choice([name for name in lies if target.sees_shapes or kind != "lie" or name in READ_BY_PYCUDA])
    return name, Told(interface | {"strides": None} | lies[name])


# --- numbers, structs, streams ------------------------------------------------------------------------------------

NUMBERS = [1.5, 2, True, np.float64(0.5), np.float32(-3), np.int8(7), 0, -0.0]
NO_NUMBERS = ["1", None, 1e300, 1j, [1], (), object(), np.complex64(1), b"1", 10**400]
NOT_CAST = [
    each for each in NO_NUMBERS if not isinstance(each, np.complex64)
]  # pybind11 takes its real part; NumPy warns
NO_STREAMS = ["0", -1, 1.5, True, object(), 2**70, (0,)]


def number(draw: random.Random, is_right: bool, wrong: list) -> Drawn:
    given = draw.choice(NUMBERS if is_right else wrong)
    return Drawn(given, is_right, f"number {given!r:.20}", given)


def knee(draw: random.Random, is_right: bool, dtype: np.dtype) -> Drawn:
    right = np.array((-1, 2), dtype)
    forms = [right, right[()], right.tobytes()] if is_right else [b"1234567", bytes(12), 5, None, "12345678", HOST]
    given = draw.choice(forms)
    return Drawn(given, is_right, f"struct {type(given).__name__}", right)


def stream(draw: random.Random, is_right: bool) -> Drawn:
    if not is_right:
        given = draw.choice(NO_STREAMS)
        return Drawn(given, False, f"stream {given!r:.20}")
    kind = draw.choice(["none", "cupy", "int", "null", "torch", "numba", "pycuda", "cuda.core"])
    mine = STREAMS[0]
    if kind == "torch" and "PyTorch" in LIBRARIES:
        return Drawn(importlib.import_module("torch").cuda.ExternalStream(mine.ptr), True, "PyTorch's stream")
    if kind == "numba" and "Numba" in LIBRARIES:
        return Drawn(importlib.import_module("numba.cuda").external_stream(mine.ptr), True, "Numba's stream")
    if kind == "pycuda" and "PyCUDA" in LIBRARIES:
        return Drawn(importlib.import_module("pycuda.driver").Stream(), True, "PyCUDA's stream")
    if kind == "cuda.core":
        return Drawn(importlib.import_module("cuda.core").Stream.from_handle(mine.ptr), True, "cuda.core's stream")
    return Drawn({"cupy": mine, "int": mine.ptr, "null": 0}.get(kind), True, f"stream {kind}")


# --- what is called -----------------------------------------------------------------------------------------------


class Target(NamedTuple):
    """A function of numbers and arrays: how it is called, what it gives, what it takes.

    `call` gets the number of elements, and the arguments in the order of `arguments`; `reference` gets what these
    hold.
    `libraries` are those whose arrays it takes, `sees_shapes` tells whether it compares them.
    """

    call: Callable[..., Any]
    reference: Callable[..., np.ndarray]
    arguments: tuple[str, ...]
    libraries: list[str]
    sees_shapes: bool
    dtype: np.dtype | None = None
    no_numbers: list = NO_NUMBERS


def saxpy(a: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(np.float64(np.float32(a)) * x + y, np.float32)


def binding() -> Target:
    def call(_: int, a: Any, x: Any, y: Any, out: Any, stream: Any) -> None:
        fourways_aot.saxpy(a, x, y, out, stream=stream)

    arguments = ("number", "array", "array", "out", "stream")
    return Target(call, saxpy, arguments, [*LIBRARIES], True, no_numbers=NOT_CAST)


@pytest.fixture(scope="module")
def softclip(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The generated package of a case with a number and a struct, built for this GPU."""
    if reason := toolchain.missing("nvcc"):
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("site")
    case = Case.load(CASES / "softclip.cu", case=CASES / "softclip.py")
    package.build_alone(case, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        return importlib.import_module("softclip")


def generated(module: ModuleType) -> Target:
    case = Case.load(CASES / "softclip.cu", case=CASES / "softclip.py")

    def call(_: int, x: Any, bias: Any, gain: Any, knee: Any, out: Any, stream: Any) -> None:
        module.softclip(x, bias, gain, knee, out=out, stream=stream)

    def reference(x: np.ndarray, bias: np.ndarray, gain: Any, knee: np.ndarray) -> np.ndarray:
        right = case.reference(np.int32(x.size), x, bias, np.float32(gain), knee)
        return right["y"]

    arguments = ("array", "array", "number", "knee", "out", "stream")
    return Target(call, reference, arguments, [*LIBRARIES], True, np.dtype([("low", "f4"), ("high", "f4")]), NOT_CAST)


def checked_cupy() -> Target:
    launch = fourways.checked(cupy.RawModule(code=kernels.source("saxpy")).get_function("saxpy"))

    def call(size: int, a: Any, x: Any, y: Any, out: Any) -> None:
        launch((4,), (256,), (a, x, y, out, size))

    return Target(call, saxpy, ("number", "array", "array", "out"), ["CuPy"], False)


def checked_pycuda() -> Target:
    if reason := toolchain.missing("pycuda"):
        pytest.skip(reason)
    from pycuda.compiler import SourceModule

    source = kernels.source("saxpy")
    launch = fourways.checked(SourceModule(source, no_extern_c=True).get_function("saxpy"), source)

    def call(size: int, a: Any, x: Any, y: Any, out: Any) -> None:
        launch(a, x, y, out, size, block=(256, 1, 1), grid=(4, 1))

    libraries = [name for name in LIBRARIES if name != "DLPack"]
    return Target(call, saxpy, ("number", "array", "array", "out"), libraries, False)


def drawn_array(draw: random.Random, memory: Memory, is_right: bool, target: Target, others: list[Memory]) -> Drawn:
    """An argument over this memory. `others` are the arrays before an output, which it must not overlap."""
    values = memory.array.get()
    if is_right:
        library = draw.choice(target.libraries)
        return Drawn(LIBRARIES[library](memory.array), True, library, values)
    faults = ["hostile"] * 4
    if others:
        faults += ["read-only"] if "interface" in target.libraries else []
        faults += ["shared"] if target.sees_shapes and memory.size else []
    if target.sees_shapes:
        faults += ["longer", "another shape"]
    if refused := [name for name in LIBRARIES if name not in target.libraries]:
        faults += ["foreign"]
    fault = draw.choice(faults)
    if fault == "hostile":
        what, given = hostile(draw, memory.array, target)
        return Drawn(given, False, what)
    if fault == "read-only":
        return Drawn(Interface(memory.array, read_only=True), False, fault)
    if fault == "shared":
        return Drawn(draw.choice(others).array, False, fault)
    if fault == "foreign":
        library = draw.choice(refused)
        return Drawn(LIBRARIES[library](memory.array), False, f"{fault}, {library}")
    library = draw.choice([name for name in target.libraries if name != "PyCUDA"])
    other = cupy.ones(memory.size + 1, np.float32) if fault == "longer" else memory.array.reshape(-1, 1, 1)
    return Drawn(LIBRARIES[library](other), False, f"{fault}, {library}")


def one_call(target: Target, seed: str) -> bool:
    """Draw a call, make it, and fail where it does harm. Returns whether it was a right one."""
    draw = random.Random(seed)
    size = draw.choice(SIZES)
    numbers = np.random.default_rng(draw.getrandbits(32))
    wrong = {draw.randrange(len(target.arguments)) for _ in range(draw.choice([0, 0, 1, 1, 1, 2]))}
    inputs: list[Memory] = []
    output = Memory(np.full(size, np.nan, np.float32))
    drawn: list[Drawn] = []
    for place, kind in enumerate(target.arguments):
        is_right = place not in wrong
        if kind == "array":
            inputs.append(Memory(numbers.standard_normal(size, np.float32)))
            drawn.append(drawn_array(draw, inputs[-1], is_right, target, []))
        elif kind == "out":
            drawn.append(drawn_array(draw, output, is_right, target, inputs))
        elif kind == "number":
            drawn.append(number(draw, is_right, target.no_numbers))
        elif kind == "knee":
            assert target.dtype
            drawn.append(knee(draw, is_right, target.dtype))
        else:
            drawn.append(stream(draw, is_right))
    told = f"seed {seed}, {size} elements: {'; '.join(each.what for each in drawn)}"
    cupy.cuda.Device().synchronize()
    refusal: Exception | None = None
    try:
        target.call(size, *(each.given for each in drawn))
    except Exception as error:
        refusal = error
    try:
        cupy.cuda.Device().synchronize()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.exit(f"{told}: the GPU's context is lost: {error}", 1)
    assert all(memory.is_as_before() for memory in inputs), f"{told}: an input changed"
    assert output.margin_is_as_before(), f"{told}: memory beside the output changed"
    if wrong:
        assert refusal is not None, f"{told}: this call was not refused"
        assert not isinstance(refusal, SystemError | MemoryError), f"{told}: {refusal!r}"
        assert output.is_as_before(), f"{told}: refused ({refusal}), but the output changed"
        return False
    assert refusal is None, f"{told}: refused: {refusal!r}"
    values = [each.value for kind, each in zip(target.arguments, drawn, strict=True) if kind not in ("out", "stream")]
    np.testing.assert_allclose(output.array.get(), target.reference(*values), rtol=1e-5, atol=1e-5, err_msg=told)
    return True


@pytest.mark.parametrize("name", ["binding", "package", "checked, CuPy", "checked, PyCUDA"])
def test_no_call_does_harm(name: str, softclip: ModuleType) -> None:
    makers = {"binding": binding, "package": lambda: generated(softclip)}
    makers |= {"checked, CuPy": checked_cupy, "checked, PyCUDA": checked_pycuda}
    target = makers[name]()
    right = sum(one_call(target, f"{name} {number}") for number in range(CALLS))
    assert CALLS / 4 < right < CALLS * 3 / 4, "hardly any call of one kind was drawn"
