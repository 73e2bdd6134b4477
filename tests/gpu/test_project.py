"""Packages of the template on a GPU: built by pip, and right by their own tests and with other libraries' arrays."""

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import cupy
import numpy as np
import pytest
from wheels import install, own_tests

INPUTS = Path(__file__).parents[1] / "project"


@pytest.fixture(scope="module", params=["lift", "sift"])
def made(request: pytest.FixtureRequest, made_once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """A folder with a package and its installation.

    lift has unsigned numbers, a struct and two outputs; sift constants, an instance of a template, numbers of
    all other kinds, vectors, an output in place, and more than 48 KB of dynamic shared memory.
    """
    return made_once(request.param, lambda folder: install(INPUTS / f"{request.param}.cu", folder))


def test_its_own_tests_pass(made: Path) -> None:
    said = own_tests(made.name, made)
    assert " passed" in said and "skipped" not in said


@pytest.fixture
def lift(made_once: Callable[[str, Callable[[Path], object]], Path], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = made_once("lift", lambda folder: install(INPUTS / "lift.cu", folder))
    monkeypatch.syspath_prepend(made / "site")
    return importlib.import_module("lift")


def test_tensors_and_a_stream_of_ones_own(lift: ModuleType) -> None:
    torch = pytest.importorskip("torch")
    band = np.zeros((), lift.BAND_DTYPE)
    band["odd"], band["range"] = 3, (-1, 200)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x, y, keys = cupy.arange(1000, dtype="f4") - 500, cupy.empty(1000, "f4"), cupy.empty(500, "u8")
        lift.lift(x, y, keys, seed=5, shift=2, band=band, stream=stream)
    stream.synchronize()
    right = np.clip(np.arange(1000, dtype="f4") - 498, -1, 200)
    np.testing.assert_array_equal(y.get(), right)
    there, back = torch.arange(1000, dtype=torch.float32).cuda() - 500, torch.empty(1000).cuda()
    lift.lift(there, back, keys, seed=5, shift=2, band=band[()])
    np.testing.assert_array_equal(back.cpu().numpy(), right)
    np.testing.assert_array_equal(keys.get(), (np.arange(500, dtype="u8") ^ np.uint64(5)) * np.uint64(3))


def test_a_vector_must_start_at_a_multiple_of_its_size(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if made.name != "sift":
        pytest.skip("its kernel takes no vectors")
    monkeypatch.syspath_prepend(made / "site")
    sift = importlib.import_module("sift")
    kept, x = cupy.zeros(2, sift.KEPT_DTYPE), cupy.zeros(9, "f4")[1:].reshape(2, 4)
    with pytest.raises(ValueError, match="^sift: x starts at address .*; wanted a multiple of 16"):
        sift.sift(kept, x, 1, 1j, False, grid=1, block=256, shared=65536)
