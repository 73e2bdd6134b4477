"""How the binding reads arrays and picks streams on a GPU, by doublify: every library's arrays, the GIL, errors."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import cupy
import numpy as np
import pytest
from gate import Gate
from protocols import Dlpack, Interface

import fourways_aot

doublify = fourways_aot.doublify
DELAY = Path(__file__).with_name("delay.cu").read_text(encoding="utf-8")


def delay(seconds: float) -> None:
    """Keeps CuPy's current stream busy."""
    cupy.RawKernel(DELAY, "delay")((1,), (1,), (np.int64(seconds * 1e9),))


def poisoned(shape: int | tuple[int, ...]) -> cupy.ndarray:
    return cupy.full(shape, cupy.nan, cupy.float32)


@pytest.fixture
def torch() -> ModuleType:
    """PyTorch, if it has DLPack's functions in C."""
    module = pytest.importorskip("torch")
    if not hasattr(module.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip(f"PyTorch {module.__version__} has no DLPack functions in C")
    return module


# --- memory ----------------------------------------------------------------------------------------------------------


class Claims:
    """An array of the host's memory that says that it is a GPU's."""

    def __init__(self, address: int) -> None:
        self.__cuda_array_interface__ = {"shape": (16,), "typestr": "<f4", "data": (address, False), "version": 3}


def test_memory_of_the_host_is_found_out() -> None:
    pinned, pageable = cupy.cuda.alloc_pinned_memory(64), np.ones(16, np.float32)
    for address in (pinned.ptr, pageable.ctypes.data):
        with pytest.raises(TypeError, match=r"^doublify: x is in host memory; wanted an array of a GPU"):
            doublify(Claims(address), poisoned(16))


@pytest.mark.parametrize("wrap", [lambda a: a, Interface], ids=["cupy", "interface"])
def test_managed_memory_is_taken(wrap: Callable[[object], object]) -> None:
    x, y = (cupy.ndarray(1009, cupy.float32, cupy.cuda.malloc_managed(4 * 1009)) for _ in range(2))
    x[...] = 3
    y[...] = cupy.nan
    doublify(wrap(x), wrap(y))
    assert (y == 6).all()


def test_the_current_gpu_decides() -> None:
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("needs two GPUs")
    with cupy.cuda.Device(1):
        x, y = cupy.ones(33, cupy.float32), poisoned(33)
        doublify(x, y)
        doublify(Interface(x), Interface(y))
        assert (y == 2).all()
    for wrap in (lambda a: a, Interface, Dlpack):
        with pytest.raises(ValueError, match="^doublify: x is on GPU 1; wanted GPU 0, the current one"):
            doublify(wrap(x), wrap(y))


# --- the libraries ---------------------------------------------------------------------------------------------------

SIZES = [0, 1, 33, 1009]


@pytest.mark.parametrize("size", SIZES)
def test_pytorch(size: int) -> None:
    torch = pytest.importorskip("torch")
    source, target = torch.ones(size + 9, device="cuda")[4:-5], torch.full((size + 9,), torch.nan, device="cuda")
    torch.cuda.synchronize()
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            target.fill_(torch.nan)
            doublify(source, target[4:-5], stream=stream)
            assert (target[4:-5] == 2).all() and torch.isnan(target[:4]).all() and torch.isnan(target[-5:]).all()


@pytest.mark.parametrize("size", SIZES[1:])
def test_numba(size: int) -> None:
    cuda = pytest.importorskip("numba.cuda")
    if not cuda.is_available():
        pytest.skip("Numba finds no GPU")
    x = np.arange(size, dtype=np.float32)
    for stream in (0, cuda.stream()):
        source, target = cuda.to_device(x, stream=stream), cuda.device_array(size, np.float32, stream=stream)
        doublify(source, target, **({"stream": stream} if stream else {}))
        cuda.synchronize()
        np.testing.assert_array_equal(target.copy_to_host(), 2 * x)


@pytest.fixture
def pycuda() -> Iterator[ModuleType]:
    driver = pytest.importorskip("pycuda.driver")
    driver.init()
    context = driver.Device(0).retain_primary_context()
    context.push()
    try:
        yield driver
    finally:
        context.pop()


@pytest.mark.parametrize("size", SIZES[1:])
def test_pycuda(pycuda: ModuleType, size: int) -> None:
    from pycuda import gpuarray

    x = np.arange(size, dtype=np.float32)
    source = gpuarray.to_gpu(x)
    for named in (None, pycuda.Stream()):
        target = gpuarray.to_gpu(np.full(size, np.nan, np.float32))
        doublify(source, target, stream=named)
        pycuda.Context.synchronize()
        np.testing.assert_array_equal(target.get(), 2 * x)


def test_a_pytorch_tensor_that_does_not_fit_says_what_to_do(torch: ModuleType) -> None:
    y = torch.full((33,), torch.nan, device="cuda")
    for bad, error, message in [
        (torch.ones(33, device="cuda", requires_grad=True), ValueError, r"x requires a gradient.*x\.detach\(\)"),
        (torch.ones(33, device="cuda", dtype=torch.bfloat16), TypeError, "x has dtype bfloat16; wanted float32"),
        (torch.ones(33, device="cuda", dtype=torch.bool), TypeError, "x has dtype bool; wanted float32"),
        (torch.ones(33, device="cuda", dtype=torch.cfloat), TypeError, "x has dtype complex64; wanted float32"),
        (torch.ones(33), TypeError, r"x is a torch\.Tensor in host memory"),
        (torch.ones(33).to_sparse().cuda(), TypeError, r"x is a torch\.Tensor that DLPack cannot describe"),
        (torch.ones(66, device="cuda")[::2], ValueError, r"x has shape \(33,\) and strides \(8,\); wanted C order"),
        (torch.ones(34, device="cuda"), ValueError, r"y has shape \(33,\); wanted \(34,\)"),
        (y, ValueError, "y shares memory with x"),
    ]:
        with pytest.raises(error, match=f"^doublify: {message}"):
            doublify(bad, y)
    torch.cuda.synchronize()
    assert torch.isnan(y).all()


# --- streams ---------------------------------------------------------------------------------------------------------


def late_threes(x: cupy.ndarray) -> None:
    """x becomes 3 on the current stream, but not before the caller has gone on."""
    delay(0.5)
    x.fill(3)


def streams() -> tuple[cupy.cuda.Stream, cupy.cuda.Stream]:
    """Two that do not wait for the default stream, nor it for them."""
    return cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)


def zeros_and_poison() -> tuple[cupy.ndarray, cupy.ndarray]:
    delay(0)  # compiled now
    x, y = cupy.zeros(1009, cupy.float32), poisoned(1009)
    cupy.cuda.Device().synchronize()
    return x, y


def test_the_default_is_cupys_current_stream() -> None:
    x, y = zeros_and_poison()
    stream, _ = streams()
    with stream:
        late_threes(x)
        doublify(x, y)
    stream.synchronize()
    assert (y == 6).all()


@pytest.mark.parametrize("kind", ["cupy", "int", "torch", "numba", "cuda.core"])
def test_a_named_stream_is_the_one(kind: str) -> None:
    x, y = zeros_and_poison()
    stream, _ = streams()
    named: object = stream
    if kind == "int":
        named = stream.ptr
    elif kind == "torch":
        named = pytest.importorskip("torch").cuda.ExternalStream(stream.ptr)
    elif kind == "numba":
        named = pytest.importorskip("numba.cuda").external_stream(stream.ptr)
    elif kind == "cuda.core":
        named = pytest.importorskip("cuda.core").Stream.from_handle(stream.ptr)
    with stream:
        late_threes(x)
    doublify(x, y, stream=named)
    stream.synchronize()
    assert (y == 6).all()


@pytest.mark.parametrize("protocol", ["interface", "DLPack"])
def test_the_kernel_waits_for_the_producers_stream(protocol: str) -> None:
    x, y = zeros_and_poison()
    producer, consumer = streams()
    with producer:
        late_threes(x)
        given = Interface(x, stream=producer.ptr) if protocol == "interface" else Dlpack(x)
        doublify(given, y if protocol == "interface" else Dlpack(y), stream=consumer)
    consumer.synchronize()
    assert (y == 6).all()


def late_threes_on(torch_stream: object, x: object) -> None:
    """late_threes for a tensor of PyTorch, with CuPy's current stream as it was."""
    lent = SimpleNamespace(__cuda_stream__=lambda: (0, torch_stream.cuda_stream))  # type: ignore[attr-defined]
    with cupy.cuda.Stream.from_external(lent):
        late_threes(cupy.asarray(x))


@pytest.mark.parametrize("named", [False, True])
def test_pytorchs_current_stream_is_the_default_and_is_waited_for(torch: ModuleType, named: bool) -> None:
    zeros_and_poison()  # whose kernels the delay must not wait for
    x, y = torch.zeros(1009, device="cuda"), torch.full((1009,), torch.nan, device="cuda")
    current, other = torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(current):
        late_threes_on(current, x)
        doublify(x, y, **({"stream": other} if named else {}))
    assert not current.query(), "the delay is over, so this showed nothing"
    (other if named else current).synchronize()
    assert (y == 6).all()


# --- manners ---------------------------------------------------------------------------------------------------------


def test_other_threads_run_while_the_launch_queue_is_full() -> None:
    """CUDA holds about a thousand launches back; the next one blocks until the GPU has gone on."""
    x, y = zeros_and_poison()
    stream, _ = streams()
    with stream:
        gate = Gate()
    calls, launched = 20_000, []
    thread = threading.Thread(target=lambda: [launched.append(doublify(x, y, stream=stream)) for _ in range(calls)])
    thread.start()
    blocked_at = 0
    while not launched or blocked_at != len(launched):  # until the thread stands still
        blocked_at = len(launched)
        time.sleep(0.05)
    gate.open()
    thread.join()
    stream.synchronize()
    assert blocked_at < calls, "the queue never filled, so this showed nothing"
    assert gate.was_opened, "this thread stood still until the kernel gave up"
    assert (y == 0).all()


def test_an_error_of_cuda_is_an_exception_and_the_next_call_works() -> None:
    """The legacy default stream may not wait for a stream under capture."""
    x, y = zeros_and_poison()
    producer, _ = streams()
    producer.begin_capture()
    try:
        with pytest.raises(RuntimeError, match=r"^doublify: cudaErrorStreamCapture\w+: "):
            doublify(Interface(x, stream=producer.ptr), y, stream=0)
    finally:
        with contextlib.suppress(cupy.cuda.runtime.CUDARuntimeError):  # the attempt may have ended the capture
            producer.end_capture()
    doublify(x, y)
    assert (y == 0).all()
