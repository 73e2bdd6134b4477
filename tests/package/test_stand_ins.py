"""A package's own arrays on its compiled binding without a GPU: on a CUDA runtime that launches nothing."""

import ctypes
import importlib
import inspect
import itertools
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pybind11
import pytest
from protocols import Exported

from fourways import package, toolchain
from fourways.case import Case

CPP = Path(__file__).parents[1] / "cpp"


ADDRESSES = itertools.count(0x7F00_0000_0000, 2**30)


class Array(Exported):
    """Stands for a GPU array with a shape, apart from all others."""

    def __init__(self, array: np.ndarray, offset: int = 0) -> None:
        super().__init__(array.shape, array.dtype.str, next(ADDRESSES) + offset)
        self.shape = array.shape


def compiled(*words: object) -> None:
    done = subprocess.run([*map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def build(case: Case, name: str, folder: Path) -> None:
    """Write the case's package `name` below the folder, and compile its binding in place, on the fake runtime."""
    package.write(case, name, folder / name)
    source = folder / name / "src"
    compiled(toolchain.nvcc(), "-std=c++17", "-arch=sm_90", "-Xcompiler", "-fPIC", f"-I{source}",
             "-c", source / f"{name}.cu", "-o", folder / "kernel.o")  # fmt: skip
    parts = source / f"{name}.cpp", source / "arrays" / "gpu_array.cpp", CPP / "fake_launch.cpp"
    # as one unit: most of the time is pybind11's headers
    (folder / "unit.cpp").write_text("".join(f'#include "{part}"\n' for part in parts))
    folders = [CPP, *toolchain.include_dirs(), pybind11.get_include(), sysconfig.get_path("include")]
    compiled(toolchain.host_compiler(), "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden",
             *(f"-I{each}" for each in folders), folder / "unit.cpp", folder / "kernel.o",
             "-o", source / name / "_binding.so")  # fmt: skip


@pytest.fixture
def made(
    root: Path, made_once: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[Case, Callable[..., Any], Callable[[], list[str]]]]:
    """For a case of tests/cases: the case, the function of its package, and what its calls made the runtime do."""

    def make(stem: str) -> tuple[Case, Callable[..., Any], Callable[[], list[str]]]:
        file, name = root / "tests/cases" / f"{stem}.cu", f"fake_{stem}"
        case = Case.load(file, case=file.with_suffix(".py"))
        source = made_once(name, lambda folder: build(case, name, folder)) / name / "src"
        monkeypatch.syspath_prepend(source)
        module = importlib.import_module(name)
        runtime = ctypes.CDLL(str(source / name / "_binding.so"))
        runtime.fake_log.restype = ctypes.c_char_p

        def log() -> list[str]:
            lines = [line.strip() for line in runtime.fake_log().decode().splitlines()]
            runtime.fake_reset(0, ctypes.c_void_p(0), 0, 0)
            return [line for line in lines if line != "cleared"]

        log()  # of the test before
        return case, getattr(module, name), log

    return make


def arguments(case: Case, function: Callable[..., Any], size: int) -> dict[str, Any]:
    """The function's arguments at a size: the case's inputs, and outputs like the right ones, as stand-ins."""
    given = case.make_inputs(size)
    right = case.reference(*given)
    values = dict(zip((case.size or "size", *case.names), given, strict=True))
    called = {name: values[name] for name in inspect.signature(function).parameters if name in values}
    outs = [Array(right[name]) for name in case.outputs if name not in case.in_place]
    called = {name: Array(each) if isinstance(each, np.ndarray) else each for name, each in called.items()}
    return called | ({"out": outs[0] if len(outs) == 1 else tuple(outs)} if outs else {})


OTHERS = ("drift", "blur", "minmax", "scale_half")


@pytest.mark.parametrize("stem", ["forces", *(pytest.param(stem, marks=pytest.mark.long) for stem in OTHERS)])
def test_a_package_takes_its_own_cases_arrays(stem: str, made: Callable) -> None:
    case, function, log = made(stem)
    for size in case.sizes or (1, 33, 1000):
        function(**arguments(case, function, size), stream=1)
        grid, block, shared = case.launch_of(case.make_inputs(size))
        shape = [*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3], shared]
        assert log() == [f"launch {' '.join(map(str, shape))}"]


def test_a_vector_is_checked(made: Callable) -> None:
    case, forces, log = made("forces")
    good = arguments(case, forces, 33)
    particles, f4 = np.zeros((33, 4), "f4"), np.float32
    for change, error, told in (
        ({"particles": Array(particles, 4)}, ValueError, r"starts at address \d+; wanted a multiple of 16"),
        ({"particles": Array(np.zeros((33, 3), f4))}, ValueError, r"\(33, 3\); wanted 4 numbers along the last axis"),
        ({"particles": Array(np.zeros(132, f4))}, ValueError, r"\(132,\); wanted 4 numbers along the last axis"),
        ({"particles": Array(particles.astype("f8"))}, TypeError, "particles has dtype float64; wanted float32"),
        ({"out": (good["out"][0], Array(np.zeros((33, 3))))}, ValueError, r"felt has shape \(33, 3\); wanted 2"),
        ({"first": Array(np.zeros((3, 1), "i4"))}, ValueError, r"first has shape \(3, 1\); wanted 1 dim"),
        ({"first": [0, 33]}, TypeError, "first is a list; wanted a GPU array"),
        ({"pull": np.zeros(3, f4)}, TypeError, "pull"),
    ):  # fmt: skip
        with pytest.raises(error, match=told):
            forces(**good | change)
    assert log() == []
