"""A package on a GPU: built by pip, right with every library's arrays."""

import importlib
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import cupy
import numpy as np
import pytest
from protocols import Dlpack, Interface

from fourways import checking, package, toolchain, ways
from fourways.case import Case

CASES = Path(__file__).parents[1] / "cases"


def run(*words: object, **more: str) -> str:
    environment = os.environ | toolchain.variables()
    environment["PATH"] = f"{sysconfig.get_path('scripts')}{os.pathsep}{environment['PATH']}"
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, env=environment | more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def the_case(name: str) -> Case:
    return Case.load(CASES / f"{name}.cu", case=CASES / f"{name}.py")


def installed(name: str, made: Path) -> Path:
    """A folder with the package of a case, built by pip for this GPU, from what is installed here."""
    pytest.importorskip("pip")
    pytest.importorskip("scikit_build_core")
    if reason := toolchain.missing("nvcc"):
        pytest.skip(reason)
    package.write(the_case(name), name, made / name)
    arch = toolchain.gpus()[0].arch.removeprefix("sm_")
    one = f"--config-settings=cmake.define.CMAKE_CUDA_ARCHITECTURES={arch}-real"
    offline = ("--no-index", "--no-deps", "--no-build-isolation")
    run(sys.executable, "-m", "pip", "install", *offline, one, "--target", made / "site", made / name)
    return made / "site"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed("softclip", tmp_path_factory.mktemp("made"))


@pytest.fixture
def softclip(site: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(site)
    return importlib.import_module("softclip")


@pytest.mark.parametrize("name", ["softclip", "forces", "drift", "blur"])
def test_its_own_tests_pass(name: str, site: Path, tmp_path: Path) -> None:
    """Vector types, structs, dynamic shared memory, a launch that depends on an array's shape or on numbers."""
    site = site if name == "softclip" else installed(name, tmp_path)
    tests = site.parent / name / "tests"
    said = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests, PYTHONPATH=str(site))
    assert " passed" in said and "skipped" not in said and "failed" not in said


def libraries() -> Iterator[tuple[str, Callable[[np.ndarray], Any], Callable[[Any], np.ndarray]]]:
    """By name: NumPy's array to the library's, and back."""
    yield "cupy", cupy.asarray, lambda array: array.get()
    if toolchain.installed("torch"):
        import torch

        yield "torch", lambda array: torch.from_numpy(array).cuda(), lambda tensor: tensor.cpu().numpy()


@pytest.mark.parametrize("shape", [(0,), (1,), (1009,), (33, 257)], ids=str)
def test_it_is_right_and_gives_back_the_librarys_own(softclip: ModuleType, shape: tuple[int, ...]) -> None:
    case = the_case("softclip")
    size, x, bias, gain, knee = case.make_inputs(int(np.prod(shape)))
    right = case.reference(size, x, bias, gain, knee)["y"].reshape(shape)
    for name, there, back in libraries():
        x_there, bias_there = there(x.reshape(shape)), there(bias.reshape(shape))
        y = softclip.softclip(x_there, bias_there, gain, knee)
        assert type(y) is type(x_there), name
        np.testing.assert_allclose(back(y), right, rtol=case.rtol, atol=case.atol, err_msg=name)
        out = there(np.full(shape, np.nan, "f4"))
        assert softclip.softclip(x_there, bias_there, 1.5, knee, out=out) is out
        np.testing.assert_allclose(back(out), right, rtol=case.rtol, atol=case.atol, err_msg=name)


@pytest.mark.parametrize("wrap", [Interface, Dlpack])
def test_beside_other_arrays_out_must_be_given(softclip: ModuleType, wrap: Callable[[cupy.ndarray], Any]) -> None:
    x, knee = cupy.ones(33, "f4"), np.array((-1, 2), softclip.KNEE)
    out = cupy.zeros(33, "f4")
    softclip.softclip(wrap(x), wrap(x), 0, knee, out=wrap(out))
    assert cupy.allclose(out, softclip.softclip(x, x, 0, knee)) and out.any()


def test_streams_are_kept_to(softclip: ModuleType) -> None:
    knee = np.array((-1, 2), softclip.KNEE)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x, bias = cupy.ones(1009, "f4"), cupy.zeros(1009, "f4")
        y = softclip.softclip(x, bias, 1, knee)
        z = softclip.softclip(x, bias, 1, knee, stream=stream)
    stream.synchronize()
    assert (y == z).all() and (y == y[0]).all() and y[0] != 0


WAYS = ("softclip", "minmax", "heat", "histogram", "julia", "scale_half", "drift", "product", "forces", "blur")


@pytest.mark.parametrize("name", WAYS)
def test_the_way_of_a_case_is_right(name: str) -> None:
    """Several outputs, in place, three dimensions, complex and half numbers, structs, a launch of its own."""
    if reason := toolchain.missing("nvcc"):
        pytest.skip(reason)
    table = checking.check(the_case(name).ways(["pybind11"]))
    outcomes = {row["outcome"] for row in table.rows if row["way"] == "pybind11"}
    assert outcomes == {"right"}


def test_more_than_48_kb_of_shared_memory(tmp_path: Path) -> None:
    (tmp_path / "turn.cu").write_text("""
extern "C" __global__ void turn(const float *x, float *y)
{
    extern __shared__ float kept[];
    for (int i = threadIdx.x; i < 16384; i += blockDim.x) kept[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 16384; i += blockDim.x) y[i] = kept[16383 - i];
}
""")
    (tmp_path / "case.py").write_text("""
import numpy as np

sizes = (16384,)


def make_inputs(size):
    return np.arange(16384, dtype=np.float32)


def reference(x):
    return x[::-1]


def launch(size):
    return 1, 256, 4 * 16384
""")
    case = Case.load(tmp_path / "turn.cu", case=tmp_path / "case.py")
    size, x = case.make_inputs(16384)
    y = cupy.zeros(16384, "f4")
    ways.WAYS["pybind11"].function(case)(size, cupy.asarray(x), y)
    np.testing.assert_array_equal(y.get(), x[::-1])
