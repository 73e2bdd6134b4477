"""Packages compiled and imported without a GPU: what they refuse, and the way pybind11 that is built from the same."""

import importlib
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pybind11
import pytest

from fourways import building, files, package, toolchain
from fourways.case import Case
from fourways.package.error import PackageError
from fourways.ways import WAYS

LAUNCH = "\n\ndef launch(size):\n    return -(-size // 128) or 1, (128,), 4 * 128\n"


class Exported:
    """Stands for a GPU array: an address that nobody reads, for a refused call ends before."""

    def __init__(self, shape: tuple[int, ...], dtype: str = "<f4", address: int = 0x7F00_0000_0000) -> None:
        self.shape = shape
        data = (address, False)
        self.__cuda_array_interface__ = {"shape": shape, "typestr": dtype, "data": data, "version": 3}


X, B, Y = (Exported((5,), address=0x7F00_0000_0000 + i * 4096) for i in range(3))


def run(*words: object, **more: Any) -> str:
    environment = os.environ | toolchain.variables()
    environment["PATH"] = f"{sysconfig.get_path('scripts')}{os.pathsep}{environment['PATH']}"
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, env=environment | more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def site(root: Path, made_once: Callable[..., Path]) -> Path:
    """A folder with the package softclip, of two inputs, a scalar, a struct and a launch of its own, by pip."""
    return made_once("softclip", lambda folder: install_softclip(root, folder)) / "site"


def install_softclip(root: Path, made: Path) -> None:
    """Write the package softclip below a folder, build its wheel and install it in the folder `site` there."""
    cases = root / "tests" / "cases"
    (made / "case.py").write_text((cases / "softclip.py").read_text() + LAUNCH)
    package.write(Case.load(cases / "softclip.cu", case=made / "case.py"), "softclip", made / "softclip")
    offline = ("-m", "pip", "--disable-pip-version-check")
    arch = toolchain.gpu_arch().removeprefix("sm_")
    quick = (f"cmake.define.CMAKE_CUDA_ARCHITECTURES={arch}-real", "cmake.build-type=Debug")
    options = ("--no-index", "--no-deps", "--no-build-isolation", *(f"--config-settings={each}" for each in quick))
    wheel = ("wheel", *options, "--wheel-dir", made, made / "softclip")
    run(sys.executable, *offline, *wheel)
    (built,) = made.glob("softclip-*.whl")
    run(sys.executable, *offline, "install", "--no-index", "--no-deps", "--target", made / "site", built)


@pytest.fixture
def softclip(site: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(site)
    return importlib.import_module("softclip")


@pytest.mark.long
def test_its_own_tests_pass(site: Path) -> None:
    tests = site.parent / "softclip" / "tests"
    said = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests, PYTHONPATH=str(site))
    assert ("2 passed" in said and ("skipped" in said) == bool(toolchain.missing("gpu"))) or "12 passed" in said


@pytest.mark.long
@pytest.mark.parametrize(
    "change, error, told",
    [
        ({"x": [1.0]}, TypeError, r"softclip: x is a list; wanted a GPU array"),
        ({"x": np.zeros(5, "f4")}, TypeError, r"softclip: x is a numpy\.ndarray in host memory"),
        ({"x": np.zeros(5, "f4"), "out": None}, TypeError, r"softclip: x is a numpy\.ndarray; wanted a CuPy array"),
        ({"x": X, "out": None}, TypeError, r"softclip: x is a .*Exported; wanted a CuPy array .* give out="),
        ({"x": Exported((5,), "<f8")}, TypeError, r"softclip: x has dtype float64; wanted float32"),
        ({"bias": Exported((6,))}, ValueError, r"softclip: bias has shape \(6,\); wanted \(5,\), the shape of x"),
        ({"out": Exported((6,))}, ValueError, r"softclip: y has shape \(6,\); wanted \(5,\)"),
        ({"out": X}, ValueError, r"softclip: y shares memory with x"),
        ({"gain": "loud"}, TypeError, r"softclip\(\): incompatible function arguments[^$]*gain: typing.SupportsFloat"),
        ({"knee": 1.5}, TypeError, r"softclip: knee is a float"),
        ({"knee": np.zeros(3, "f4")}, TypeError, r"softclip: knee .*12.*8"),
        ({"stream": "none"}, TypeError, r"softclip: stream is a str"),
        ({"x": Exported((2**31,))}, ValueError, r"softclip: x has shape \(2147483648,\); the kernel counts"),
    ],
)  # fmt: skip
def test_a_bad_argument_is_refused(
    softclip: ModuleType, change: dict[str, Any], error: type[Exception], told: str
) -> None:
    good = {"x": X, "bias": B, "gain": 1.5, "knee": np.array((-1, 2), softclip.KNEE), "out": Y}
    with pytest.raises(error, match=f"^{told}"):
        softclip.softclip(**good | change)


@pytest.mark.long
def test_an_older_cmake_finds_the_wheels_libraries(site: Path, tmp_path: Path) -> None:
    """Debian 12's, where it is installed: its trial programs take no flag in quotes."""
    cmake = shutil.which("cmake", path="/usr/local/bin:/usr/bin")
    if not cmake or toolchain.program_version(Path(cmake)) >= "3.26":
        pytest.skip("no CMake older than 3.26 is installed")
    folder = tmp_path / "a folder"
    shutil.copytree(site.parent / "softclip", folder)
    python = (f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind11.get_cmake_dir()}")
    nvcc = f"-DCMAKE_CUDA_COMPILER={toolchain.nvcc()}"
    run(cmake, "-S", folder, "-B", folder / "build", *python, nvcc, "-DCMAKE_CUDA_ARCHITECTURES=90-real")
    run(cmake, "--build", folder / "build", "--", "-j2")
    assert list((folder / "build").glob("_binding.*.so"))


@pytest.mark.long
def test_it_says_what_it_takes(softclip: ModuleType) -> None:
    assert softclip.__all__ == ["KNEE", "softclip"]
    assert np.dtype([("low", "f4"), ("high", "f4")], align=True) == softclip.KNEE
    assert "knee    a value of dtype KNEE" in softclip.softclip.__doc__
    assert b"fourways" not in b"".join(path.read_bytes() for path in Path(softclip.__file__).parent.glob("*.py"))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOURWAYS_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield files.cache_dir() / "bindings"


def kept(cache: Path) -> set[Path]:
    """The packages that are there; a hidden folder is where they are built."""
    return set(cache.glob("[!.]*"))


def refused(call: Callable[..., None], *arguments: object) -> str:
    with pytest.raises((TypeError, ValueError)) as raised:
        call(*arguments)
    return str(raised.value)


@pytest.mark.long
def test_a_way_is_built_once_by_two_at_a_time(root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = root / "tests" / "cases" / "minmax.cu"
    case = Case.load(file, case=file.with_suffix(".py"))
    with ThreadPoolExecutor(2) as pool:
        ways = [way.result() for way in [pool.submit(WAYS["pybind11"].function, case) for _ in range(2)]]
    assert len(kept(cache)) == 1
    monkeypatch.setattr(subprocess, "run", None)  # the third finds what is there
    for way in (*ways, WAYS["pybind11"].function(case)):
        one = Exported((1,), address=0x7F00_0001_0000)
        assert (
            refused(way, 5, X, one, Exported((2,)))
            == "minmax: greatest has shape (2,); wanted (1,), by the other arguments"
        )
        assert "wanted float32" in refused(way, 5, Exported((5,), "<i4"), one, one)


@pytest.mark.long
def test_a_kernel_may_have_names_that_its_package_uses(cache: Path, tmp_path: Path) -> None:
    """Its own, those of its macros and types, of its functions and its parameters."""
    text = "#define T float\nstruct Shape { T v; };\n__device__ T fits(T v) { return v; }\nstruct Call {};\n"
    parameters = (
        "const T *call, const T *grid, T *out, T *stream, int block, Shape Shape, float module, int most, int threads"
    )
    (tmp_path / "k.cu").write_text(f'{text}extern "C" __global__ void bind({parameters}, int on) {{}}')
    inputs = (
        "def make_inputs(size): return np.ones(size, 'f4'), np.ones(2 * size, 'f4'), 7, np.zeros((), 'V4'), 0.5, 1, 2"
    )
    case = f"import numpy as np\nsize = 'on'\n{inputs}\ndef reference(x, *_): return x, x{LAUNCH}"
    (tmp_path / "case.py").write_text(case)
    way = WAYS["pybind11"].function(Case.load(tmp_path / "k.cu", case=tmp_path / "case.py"))
    first, second, knee = Exported((5,)), Exported((10,)), np.zeros((), "V4")
    out = Exported((5,), address=0x7F00_0001_0000), Exported((5,), address=0x7F00_0002_0000)
    assert "call has dtype int32; wanted float32" in refused(
        way, 5, Exported((5,), "<i4"), second, 7, knee, 0.5, 1, 2, *out
    )
    assert "stream_ has dtype int32" in refused(
        way, 5, first, second, 7, knee, 0.5, 1, 2, out[0], Exported((5,), "<i4")
    )
    assert "bind(): incompatible function arguments" in refused(way, 5, first, second, "7", knee, 0.5, 1, 2, *out)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replaces CMake by a stand-in, which takes 0.2 s for an empty module; the architectures that it is asked for."""
    run, architectures = subprocess.run, []

    def noting(words: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
        if words[0] != "cmake":
            return run(words, **more)
        asked = [word.partition("=")[2] for word in words if word.startswith("-DCMAKE_CUDA_ARCHITECTURES=")]
        architectures.extend(asked)
        if words[1] == "--build":
            time.sleep(0.2)
            Path(words[2], "_binding.abi3.so").parent.mkdir(exist_ok=True)
            Path(words[2], "_binding.abi3.so").touch()
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(subprocess, "run", noting)
    return architectures


def test_each_architecture_has_a_build_of_its_own(
    root: Path, tmp_path: Path, built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One cache may serve machines with other GPUs."""
    file = root / "tests" / "cases" / "axpy.cu"
    case = Case.load(file, case=file.with_suffix(".py"))
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", str(tmp_path))
    folders = []
    for arch in ("80", "90", "80"):
        monkeypatch.setattr(toolchain, "gpu_arch", lambda arch=arch: f"sm_{arch}")
        folders.append(package.kept_folder(case))
    assert built == ["80-real", "90-real"] and folders[0] == folders[2] != folders[1]


def test_a_package_built_from_nothing_is_timed_and_kept_nowhere_else(
    root: Path, tmp_path: Path, built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = root / "tests" / "cases" / "axpy.cu"
    case = Case.load(file, case=file.with_suffix(".py"))
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", str(tmp_path / "cache"))
    for folder in (tmp_path / "first", tmp_path / "second"):
        assert 0.2 <= package.build_alone(case, folder) < 60
        assert (folder / "axpy" / "__init__.py").is_file() and list((folder / "axpy").glob("_binding.*.so"))
    assert len(built) == 2, "the second build takes nothing from the first"
    assert not list(tmp_path.glob("cache/bindings/*"))


@pytest.mark.long
def test_a_whole_number_is_not_cut_from_another(root: Path, cache: Path) -> None:
    """NumPy's float32 has an `__int__`, with which pybind11 would make 5 of 5.5."""
    file = root / "tests" / "cases" / "fir.cu"
    way = WAYS["pybind11"].function(Case.load(file, case=file.with_suffix(".py")))
    x, taps, y = Exported((12,)), Exported((8,), address=0x7F00_0001_0000), Exported((6,), address=0x7F00_0002_0000)
    assert "y has shape (6,); wanted (5,)" in refused(way, np.int64(5), x, taps, y)
    assert "incompatible function arguments" in refused(way, np.float32(5.5), x, taps, y)


def test_where_nothing_can_be_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = root / "tests" / "cases" / "axpy.cu"
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", "/proc/nowhere")
    with pytest.raises(building.BuildError, match=r"cannot be kept in /proc/nowhere \(No .*that can be written$"):
        Case.load(file, case=file.with_suffix(".py")).function("pybind11")


@pytest.mark.long
def test_what_nvcc_refuses_is_said_in_its_words_and_not_kept(root: Path, cache: Path, tmp_path: Path) -> None:
    file = root / "tests" / "cases" / "reverse.cu"
    only_nvrtcs = "\noptions = ('--device-as-default-execution-space',)\n"
    (tmp_path / "case.py").write_text(file.with_suffix(".py").read_text() + only_nvrtcs)
    case, before = Case.load(file, case=tmp_path / "case.py"), kept(cache)
    with pytest.raises(PackageError, match="(?s)the binding of reverse cannot be built:\nFAILED.*error: unrec"):
        WAYS["pybind11"].function(case)
    assert kept(cache) == before
    (tmp_path / "case.py").write_text(file.with_suffix(".py").read_text())
    WAYS["pybind11"].function(Case.load(file, case=tmp_path / "case.py"))
    assert len(kept(cache)) == len(before) + 1, "what failed is in the way of what is right"
