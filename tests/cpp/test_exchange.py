"""Arrays whose type offers DLPack's C functions, as PyTorch's does, on a fake CUDA runtime."""

import sys
from types import SimpleNamespace

import cupy
import numpy as np
import pytest
from fake_cuda import FakeCuda
from protocols import FAILS, Exchange, exported, library, of_cupy


def arrays(shape: tuple[int, ...] = (4, 4)) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(1).standard_normal(shape, np.float32), np.full(shape, np.nan, np.float32)


def with_cupy(monkeypatch: pytest.MonkeyPatch, stream: int) -> None:
    cuda = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=stream))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=cupy.ndarray, cuda=cuda))


@pytest.mark.parametrize("shape", [(1,), (33,), (2, 3, 5), ()])
def test_the_functions_describe_the_arrays_and_get_back_what_they_gave(fake: FakeCuda, shape: tuple[int, ...]) -> None:
    Library = library()
    x, y = arrays(shape)
    assert fake.doublify(Library(x, read_only=True), Library(y)) == [f"launch {x.size} 0"]
    np.testing.assert_array_equal(y, 2 * x)
    assert Library.calls == ["tensor", "managed"], "only an output need say whether it is read-only"
    assert not Library.lent


def test_an_array_without_elements_is_one_too(fake: FakeCuda) -> None:
    Library = library()
    assert fake.doublify(Library(np.empty((0, 3), np.float32)), Library(np.empty((0, 3), np.float32))) == ["launch 0 0"]


def test_the_shorter_function_may_be_missing(fake: FakeCuda) -> None:
    Library = library(tensor=None)
    x, y = arrays()
    fake.doublify(Library(x), Library(y))
    np.testing.assert_array_equal(y, 2 * x)
    assert Library.calls == ["managed", "managed"] and not Library.lent


def test_subclasses_have_the_functions_too(fake: FakeCuda) -> None:
    class Parameter(library(stream=64)):  # type: ignore[misc]
        pass

    x, y = arrays()
    assert fake.doublify(Parameter(x), Parameter(y)) == ["launch 16 64"]


def test_they_are_looked_up_in_the_type_not_in_the_array(fake: FakeCuda) -> None:
    x, y = arrays()
    array = exported(x)
    array.__dlpack_c_exchange_api__ = library().__dlpack_c_exchange_api__  # type: ignore[attr-defined]
    assert fake.doublify(array, exported(y)) == ["launch 16 0"]
    np.testing.assert_array_equal(y, 2 * x)


def test_only_a_version_that_is_known_is_used(fake: FakeCuda) -> None:
    x, y = arrays()
    Newer = library(version=2, managed=FAILS, tensor=FAILS)
    with pytest.raises(TypeError, match=r"^doublify: x is a \S*Library; wanted a GPU array"):
        fake.doublify(Newer(x), exported(y))
    Both = library(version=2, previous=library(stream=64), managed=FAILS, tensor=FAILS)
    assert fake.doublify(Both(x), Both(y)) == ["launch 16 64"]
    NoCapsule = type("NoCapsule", (Exchange,), {"__dlpack_c_exchange_api__": 64})
    with pytest.raises(TypeError, match=r"^doublify: x is a \S*NoCapsule; wanted a GPU array"):
        fake.doublify(NoCapsule(x), exported(y))


# --- refused ----------------------------------------------------------------------------------------------------------


def test_what_the_functions_tell_is_checked(fake: FakeCuda) -> None:
    Library = library()
    x, y = arrays()
    good = Library(y)
    for bad, error, message in [
        (Library(x.astype(np.float64)), TypeError, "x has dtype float64; wanted float32"),
        (Library(x.astype(np.int32)), TypeError, "x has dtype int32; wanted float32"),
        (Library(x.astype(bool)), TypeError, "x has dtype bool; wanted float32"),
        (Library(x.view(np.complex64)), TypeError, "x has dtype complex64; wanted float32"),
        (Library(x, dtype=(4, 16, 1)), TypeError, "x has dtype bfloat16; wanted float32"),
        (Library(x, dtype=(10, 8, 1)), TypeError, "x has dtype that NumPy has not; wanted float32"),
        (Library(x, dtype=(2, 32, 4)), TypeError, "x has dtype that NumPy has not; wanted float32"),
        (Library(x, device=(1, 0)), TypeError, r"x is a \S*Library in host memory; wanted an array of a CUDA GPU"),
        (Library(x, device=(3, 0)), TypeError, r"x is a \S*Library in host memory"),
        (Library(x, device=(10, 0)), TypeError, r"x is a \S*Library; wanted an array of a CUDA GPU"),
        (Library(x, device=(2, 1)), ValueError, "x is on GPU 1; wanted GPU 0, the current one"),
        (Library(x.T), ValueError, r"x has shape \(4, 4\) and strides \(4, 16\); wanted C order"),
        (Library(x[:2]), ValueError, r"y has shape \(4, 4\); wanted \(2, 4\)"),
        (good, ValueError, "y shares memory with x"),
    ]:
        with pytest.raises(error, match=f"^doublify: {message}"):
            fake.doublify(bad, good)
    with pytest.raises(ValueError, match="^doublify: y is read-only; wanted a writable array"):
        fake.doublify(Library(x), Library(y, read_only=True))
    assert not Library.lent and fake.log() == []


def test_managed_memory_is_taken(fake: FakeCuda) -> None:
    Library = library()
    x, y = arrays()
    assert fake.doublify(Library(x, device=(13, 0)), Library(y, device=(13, 0))) == ["launch 16 0"]


def test_a_function_that_fails_is_reported_with_the_arguments_name(fake: FakeCuda) -> None:
    x, y = arrays()
    message = r"is a \S*Library that DLPack cannot describe: .*internal function$"
    with pytest.raises(TypeError, match=f"^doublify: x {message}"):
        fake.doublify(library(tensor=FAILS)(x), exported(y))
    with pytest.raises(TypeError, match=f"^doublify: y {message}"):
        fake.doublify(exported(x), library(managed=FAILS)(y))


def test_tensors_that_pytorchs_dlpack_refuses_are_refused(fake: FakeCuda) -> None:
    class Tensor(library()):  # type: ignore[misc]
        requires_grad = False
        conj = False

        def is_conj(self) -> bool:
            return self.conj

    x, y = arrays()
    fake.doublify(Tensor(x), Tensor(y))
    learns = Tensor(x)
    learns.requires_grad = True
    with pytest.raises(ValueError, match=r"^doublify: x requires a gradient, .*; wanted x\.detach\(\)"):
        fake.doublify(learns, Tensor(y))
    conjugated = Tensor(x.view(np.complex64))
    assert fake.shown("array_complex64", conjugated) == "8"
    conjugated.conj = True
    with pytest.raises(ValueError, match=r"^array_complex64: x is conjugated, .*; wanted x\.resolve_conj\(\)"):
        fake.binding.array_complex64(conjugated)


# --- streams ----------------------------------------------------------------------------------------------------------


def test_the_librarys_current_stream_is_the_default(fake: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    Library = library(stream=64)
    x, y = arrays()
    assert fake.doublify(Library(x), Library(y)) == ["launch 16 64"]
    with_cupy(monkeypatch, 32)
    assert fake.doublify(Library(x), Library(y))[1:] == ["launch 16 64"], "CuPy is imported, but not asked"
    assert fake.doublify(exported(x), Library(y))[2:] == ["launch 16 64"]
    assert fake.doublify(exported(x), exported(y))[3:] == ["launch 16 0"], "theirs is the legacy default stream"


def test_a_named_stream_waits_for_the_librarys_once(fake: FakeCuda) -> None:
    Library = library(stream=64)
    x, y = arrays()
    assert fake.doublify(Library(x), Library(y), stream=128) == ["record 64", "wait 128", "launch 16 128"]
    assert fake.doublify(Library(x), Library(y), stream=64)[3:] == ["launch 16 64"]


@pytest.mark.parametrize("default", [0, 1])
def test_the_default_streams_two_names_are_one(fake: FakeCuda, default: int) -> None:
    Library = library(stream=default)
    x, y = arrays()
    assert fake.doublify(Library(x), Library(y), stream=1 - default) == [f"launch 16 {1 - default}"]


def test_of_two_libraries_the_first_decides_and_the_other_is_waited_for(
    fake: FakeCuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    First, Second = library(stream=64), library(stream=128)
    x, y = arrays()
    assert fake.doublify(First(x), Second(y)) == ["record 128", "wait 64", "launch 16 64"]
    assert fake.doublify(First(x), exported(y, stream=256))[3:] == ["record 256", "wait 64", "launch 16 64"]
    with_cupy(monkeypatch, 32)
    for pair in [(First(x), of_cupy(y)), (of_cupy(x), First(y))]:
        assert fake.doublify(*pair)[-3:] == ["record 64", "wait 32", "launch 16 32"], "CuPy decides"


# --- the real one -----------------------------------------------------------------------------------------------------


def test_pytorch_has_these_functions(fake: FakeCuda) -> None:
    torch = pytest.importorskip("torch")
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip(f"PyTorch {torch.__version__} has none")
    with pytest.raises(TypeError, match=r"^doublify: x is a torch\.Tensor in host memory"):
        fake.doublify(torch.ones(3), torch.ones(3))
    with pytest.raises(TypeError, match=r"^doublify: x is a torch\.Tensor that DLPack cannot describe: [^\n]*$"):
        fake.doublify(torch.ones(3).to_sparse(), torch.ones(3))
