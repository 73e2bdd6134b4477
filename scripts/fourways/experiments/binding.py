"""What lesson 05 builds and measures: a project with a pybind11 module, hostile calls, a call's costs, loops over time.

Building and hostile calls need a C++ compiler and nvcc, but no GPU, and so do the judges of the lesson's exercises.
"""

import functools
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import numpy as np

from fourways import building, timing, toolchain
from fourways.tables import Column, Row, Table, seconds, summary

_ACTIVATED = ("CUDACXX", "CUDA_PATH", "CUDA_HOME", "LIBRARY_PATH", "NVCC")
_OFFLINE = ("--no-index", "--no-deps", "--no-build-isolation")
_ATTEMPTS = """
import json
from types import SimpleNamespace
import numpy as np
import heat

def stand_in(array):
    if isinstance(array, np.ndarray):
        return SimpleNamespace(__cuda_array_interface__=array.__array_interface__)
    return array

CALLS
told = {}
for name, (u, v) in calls.items():
    try:
        heat.step(stand_in(u), stand_in(v))
        told[name] = "launched", ""
    except RuntimeError as error:  # CUDA's: there is no GPU
        told[name] = "launched", str(error)
    except Exception as error:
        told[name] = type(error).__name__, str(error)
print(json.dumps(told))
"""


class Project:
    """A folder with a Python project in C++, and a folder beside it into which pip installs the project.

    Both are deleted with this object.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="fourways-")
        self._root, self._site = Path(self._folder.name, "heat"), Path(self._folder.name, "site")
        self._root.mkdir()
        self._columns: dict[str, dict[str, str]] = {}

    def write(self, name: str, text: str) -> None:
        """Write a file of the project."""
        (self._root / name).write_text(text.lstrip("\n"))

    def insert(self, name: str, marker: str, lines: str) -> None:
        """Insert lines into a file of the project, above the line that holds `marker`.

        Raises ValueError if the file does not hold `marker` exactly once.
        """
        text = (self._root / name).read_text()
        if text.count(marker) != 1:
            raise ValueError(f"{name} has {text.count(marker)} lines {marker!r}; expected one")
        start = text.rindex("\n", 0, text.index(marker)) + 1
        (self._root / name).write_text(text[:start] + lines.strip("\n") + "\n" + text[start:])

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands once in a file of the project. Raises ValueError if it does not."""
        text = (self._root / name).read_text()
        if text.count(old) != 1:
            raise ValueError(f"{name} has {old!r} {text.count(old)} times; expected once")
        (self._root / name).write_text(text.replace(old, new))

    def install(self) -> None:
        """Let pip build and install the project, editable, and print the build's steps and seconds (host clock).

        The build gets this process's variables, but none of those that name a toolkit. Raises RuntimeError if it fails.
        """
        start = time.perf_counter()
        log = self._pip("install", "--verbose", "--target", self._site, "--editable", self._root)
        print(*re.findall(r"\[\d+/\d+\] .*", log), sep="\n")
        print(f"pip install: {time.perf_counter() - start:.1f} s")

    def python(self, program: str) -> None:
        """Run a program in a fresh Python process that sees no GPU; print its output, and the last line of an error.

        An edited project is rebuilt when the program imports it. If that fails, the compiler's words are printed.
        """
        print(self._python(program))

    def attempt(self, calls: str, version: str) -> Table:
        """Make the calls of a Python text in a fresh process that sees no GPU; return what became of each call.

        The text defines `calls`: by name, the arguments u and v of `heat.step`. NumPy's arrays become stand-ins for a
        GPU's. `version` names a column; the columns of earlier attempts stay, and if few calls have changed, the table
        shows these alone. A call that no check refuses comes to its launch, which fails without a GPU: "launched".
        Raises RuntimeError if the module cannot be built.
        """
        said = self._python(_ATTEMPTS.replace("CALLS", calls))
        try:
            told = json.loads(said.splitlines()[-1])
        except (IndexError, ValueError):
            raise RuntimeError(f"the calls could not be made:\n{said}") from None
        before = next(reversed(self._columns.values()), {})
        self._columns[version] = {name: verdict for name, (verdict, _) in told.items()}
        rows: list[Row] = [
            {"call": name}
            | {column: verdicts.get(name, "") for column, verdicts in self._columns.items()}
            | {"message": message if verdict != "launched" else ""}
            for name, (verdict, message) in told.items()
        ]
        changed = [row for row in rows if before.get(row["call"]) != row[version]]
        if len(changed) < len(rows) / 2:
            return Table("hostile_calls", rows, note="The other calls: as before.", shown=changed)
        return Table("hostile_calls", rows)

    def load(self) -> Any:
        """Rebuild the project if it changed, import its module into this process, and return it.

        A copy of the module's file is imported, so each call returns a new module. Raises RuntimeError if it does not
        build.
        """
        built = self._python("import heat; print(heat.__file__)").splitlines()[-1:]
        if not built or not Path(built[0]).is_file():
            raise RuntimeError("the module could not be built: try `import heat` by `python`")
        folder = Path(mkdtemp(dir=self._folder.name))
        name = f"{folder.name}.heat"  # pybind11 returns the module that it has made under a name
        spec = importlib.util.spec_from_file_location(name, shutil.copy(built[0], folder))
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def wheel(self) -> Table:
        """Build a wheel, and return its size and its files' sizes in bytes, with two sizes to compare.

        These are a library with one call of the CUDA runtime, and the machine code of `heat.cu` (sm_75).
        """
        dist = Path(self._folder.name, "dist")
        self._pip("wheel", "--wheel-dir", dist, self._root)
        (wheel,) = dist.glob("*.whl")
        rows: list[Row] = [{"file": wheel.name, "bytes": wheel.stat().st_size}]
        rows += [{"file": part.filename, "bytes": part.file_size} for part in zipfile.ZipFile(wheel).infolist()]
        one_call = Path(self._folder.name, "one_call.cpp")
        one_call.write_text('extern "C" int cudaFree(void *); int f() { return cudaFree(0); }')
        (runtime, *_) = toolchain.in_roots("lib*/libcudart_static.a", "targets/*/lib/libcudart_static.a")
        words = ("-shared", "-fPIC", one_call, f"-L{runtime.parent}", "-lcudart_static", "-s")
        _run(toolchain.host_compiler(), *words, "-o", one_call.with_suffix(".so"))
        rows.append({"file": "one call of the CUDA runtime", "bytes": one_call.with_suffix(".so").stat().st_size})
        code = building.build(self._root / "heat.cu", "nvcc", "sm_75").code
        rows.append({"file": "the kernel's machine code", "bytes": len(code)})
        return Table("wheel", rows, [("bytes", lambda row: f"{row['bytes']:,}"), "file"])

    def needs(self) -> None:
        """Print what the module needs of a machine: libraries, the version of glibc, and the code that it holds."""
        module = next((self._root / "build").rglob("install/**/heat*.so"))
        libraries = [line.split()[0] for line in _run("ldd", module).splitlines()]
        print("libraries:", *[Path(name).name for name in libraries])
        versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", module.read_bytes())
        print("glibc {}.{} or newer".format(*max((int(a), int(b)) for a, b in versions)))
        for option, code in (("--list-elf", "machine code"), ("--list-ptx", "PTX")):
            print(f"{code}:", *re.findall(r"sm_\d+", _run(toolchain.program("cuobjdump"), option, module)))

    def _pip(self, command: str, *words: object) -> str:
        words = (sys.executable, "-m", "pip", command, *_OFFLINE, "--no-cache-dir", *words)
        return _run(*words, env={name: value for name, value in _variables().items() if name not in _ACTIVATED})

    def _python(self, program: str) -> str:
        prelude = f"import site\nsite.addsitedir({str(self._site)!r})\n"
        variables = _variables() | {"CUDA_VISIBLE_DEVICES": ""}
        words = [sys.executable, "-c", prelude + program]
        done = subprocess.run(words, capture_output=True, text=True, env=variables)
        if "FAILED: " in done.stderr:
            return _compiler_words(done.stderr)
        printed = re.sub(r"(?m)^Running cmake .*\n", "", done.stdout)
        return (printed + "".join(done.stderr.splitlines(keepends=True)[-1:] * (done.returncode != 0))).rstrip()


def _compiler_words(log: str) -> str:
    """Return the lines of a failed build that lead to its first error: paths and templates' arguments shortened."""
    lines = re.sub(r"\S*/(?=[\w.-]+:\d+:\d+)", "", log).splitlines()
    lines = [re.sub(r" \[with .*", "", line) for line in lines]
    last = next((number for number, line in enumerate(lines) if " error: " in line), len(lines) - 1)
    kept = [line for line in lines[: last + 1] if re.match(r"[\w.-]+:\d+:\d+: ", line)]
    return "\n".join(line if len(line) < 120 or " error: " in line else line[:117] + " …" for line in kept)


def _variables() -> dict[str, str]:
    """Return this process's variables, with the folder of this environment's programs first in PATH."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    return os.environ | {"PATH": path}


def _run(*words: object, env: Mapping[str, str] | None = None, timeout: float | None = None) -> str:
    """Run a program, and return its output. Raises RuntimeError with the output if it fails."""
    both: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run([str(word) for word in words], text=True, env=env, timeout=timeout, **both)
    if done.returncode:
        raise RuntimeError(f"{words[0]} failed:\n{done.stdout}")
    return done.stdout


# --- on the GPU ------------------------------------------------------------------------------------------------------


class _OnlyDLPack:
    """An array that shows DLPack's two methods and nothing else."""

    def __init__(self, array: Any) -> None:
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


def ladder(heat: Any, launches: int = 200) -> Table:
    """Time calls that queue one step of a small plate (host clock), by how the binding learns the arrays' addresses.

    `heat` is the lesson's module. One row is a launch in a loop in C++, and `times` is a row's median divided by that
    row's. PyTorch's row is left out where PyTorch is not installed.
    Raises AssertionError if two calls differ in their result.
    """
    import cupy as cp

    import fourways_aot

    side = 16
    u = cp.random.default_rng(1).random((side, side), dtype=cp.float32)
    v = cp.empty_like(u)
    only = _OnlyDLPack(u), _OnlyDLPack(v)
    calls: dict[str, tuple[Callable[[], Any], Any]] = {
        "addresses: heat.step_at": (lambda: heat.step_at(u.data.ptr, v.data.ptr, side, side, 1), v),
        "CuPy's attributes: fourways_aot": (lambda: fourways_aot.stencil(u, v), v),
        "__cuda_array_interface__: heat.step": (lambda: heat.step(u, v), v),
        "__dlpack__: fourways_aot": (lambda: fourways_aot.stencil(*only), v),
    }
    if toolchain.installed("torch"):
        import torch

        ours, theirs = (torch.from_numpy(array.get()).cuda() for array in (u, cp.zeros_like(u)))
        calls["DLPack's C functions: fourways_aot"] = (lambda: fourways_aot.stencil(ours, theirs), theirs)
    heat.step(u, v)
    right = v.copy()
    for name, (call, written) in calls.items():
        v.fill(np.nan)
        call()
        assert bool((cp.asarray(written) == right).all()), f"{name}: another result"
    timed = {name: (call, launches) for name, (call, _) in calls.items()}
    in_cpp = "a launch in C++"
    other = v.copy()
    timed[in_cpp] = (lambda: heat.step_at(other.data.ptr, v.data.ptr, side, side, launches), 1)
    samples: dict[str, list[float]] = {name: [] for name in timed}
    for name in timing.turns(22, list(timed)):
        call, repeats = timed[name]
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        samples[name].append((time.perf_counter() - start) / launches)
    cp.cuda.Device().synchronize()
    rows: list[Row] = [
        {"array": name, "clock": "host", "seconds": summary(times[1:])} for name, times in samples.items()
    ]
    rows = sorted(rows, key=lambda row: row["seconds"]["median"])
    raw = next(row["seconds"]["median"] for row in rows if row["array"] == in_cpp)
    rows = [row | {"times": row["seconds"]["median"] / raw} for row in rows]
    columns: list[Column] = [("how the arrays come", lambda row: row["array"]), "seconds", "times"]
    return Table("ladder", rows, columns, f"Host clock, {launches} launches a sample.")


def loops(heat: Any, steps: int = 1000, sides: Sequence[int] = (256, 4096)) -> Table:
    """Time the steps of square plates until the GPU is done (host clock): loops in Python, in C++, as a CUDA graph.

    `heat` is the lesson's module. The note has the time of one step's kernel (device clock).
    Raises AssertionError if the loops differ in their result.
    """
    import cupy as cp

    rows: dict[str, Row] = {}
    kernel: list[str] = []
    for side in sides:
        start = cp.random.default_rng(1).random((side, side), dtype=cp.float32)
        plates = {name: (start.copy(), start.copy()) for name in ("Python", "C++", "CUDA graph")}
        graph, result = _recorded(heat, *plates["CUDA graph"], steps)
        calls: dict[str, Callable[[], Any]] = {
            "Python": functools.partial(_loop_in_python, heat.step, *plates["Python"], steps),
            "C++": functools.partial(heat.step, *plates["C++"], steps),
            "CUDA graph": graph.launch,
        }
        results = [calls["Python"](), calls["C++"]()]
        graph.launch()
        assert all(bool((each == result).all()) for each in results), "the loops differ"
        spare = start.copy()
        samples = timing.device_seconds(functools.partial(heat.step, start, spare))
        kernel.append(f"{seconds(summary(samples)['median'])} on {side}²")
        for name, call in calls.items():
            row = rows.setdefault(name, {"loop": name, "clock": "host"})
            row[f"{side}²_seconds"] = summary(timing.host_seconds(functools.partial(_until_done, call)))
    columns: list[Column] = [("loop in", lambda row: row["loop"])]
    columns += [_of_plate(side, steps) for side in sides]
    note = f"Host clock, until the GPU is done. One kernel, device clock: {', '.join(kernel)}."
    return Table("thousand_steps", list(rows.values()), columns, note)


def _of_plate(side: int, steps: int) -> Column:
    return f"{steps:,} steps, {side}²", lambda row: seconds(row[f"{side}²_seconds"]["median"])


def _loop_in_python(step: Callable[[Any, Any], Any], u: Any, v: Any, steps: int) -> Any:
    for _ in range(steps):
        step(u, v)
        u, v = v, u
    return u


def _recorded(heat: Any, u: Any, v: Any, steps: int) -> tuple[Any, Any]:
    """Return a CUDA graph (`cupy.cuda.Graph`) of all steps, and the array in which its result will lie."""
    import cupy as cp

    with cp.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        result = heat.step(u, v, steps, stream.ptr)
        return stream.end_capture(), result


def _until_done(call: Callable[[], Any]) -> None:
    import cupy as cp

    call()
    cp.cuda.Device().synchronize()


def counting_meanwhile(calls: Mapping[str, Callable[[], Any]]) -> Table:
    """Call each function once, and tell how far another Python thread counts until it returns (host clock)."""
    import cupy as cp

    rows: list[Row] = []
    for name, call in calls.items():
        count, stop = [0], threading.Event()

        def work(count: list[int] = count, stop: threading.Event = stop) -> None:
            while not stop.is_set():
                count[0] += 1

        thread = threading.Thread(target=work)
        thread.start()
        before, start = count[0], time.perf_counter()
        call()
        counted, elapsed = count[0] - before, time.perf_counter() - start
        stop.set()
        thread.join()
        cp.cuda.Device().synchronize()
        rows.append({"call": name, "clock": "host", "seconds": elapsed, "counted_meanwhile": counted})
    columns: list[Column] = ["call", ("took", lambda row: seconds(row["seconds"])), "counted_meanwhile"]
    return Table("gil", rows, columns, "Host clock, one call each.")


# --- judges ----------------------------------------------------------------------------------------------------------

_PLATES = """
#include <pybind11/pybind11.h>
#include <string>
namespace py = pybind11;
struct Plate {
    float *data;
    long long h, w;
};
#line 1 "fit"
FIT
static Plate plate(size_t address, long long h, long long w)
{
    return {reinterpret_cast<float *>(address), h, w};
}
PYBIND11_MODULE(heat, m)
{
    m.def("fit", [](size_t u, long long uh, long long uw, size_t v, long long vh, long long vw) {
        fit(plate(u, uh, uw), plate(v, vh, vw));
    });
}
"""
_FITS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import heat
told = []
for call in json.loads(sys.argv[2]):
    try:
        heat.fit(*call)
        told.append("")
    except Exception as error:
        told.append(type(error).__name__)
print(json.dumps(told))
"""
_BUILT_FOR_CMAKE = """
cmake_minimum_required(VERSION 3.25...4.0)
project(heat LANGUAGES CXX)
find_package(Python COMPONENTS Interpreter Development.Module REQUIRED)
find_package(pybind11 CONFIG REQUIRED)
pybind11_add_module(heat NO_EXTRAS heat.cpp)
YOURS
"""
_BUILT_FOR_CPP = """
#include <pybind11/pybind11.h>
namespace py = pybind11;
using namespace py::literals;
PYBIND11_MODULE(heat, m)
{
#line 1 "yours"
YOURS
}
"""


def check_fit(fit: str) -> str:
    """Judge the C++ text of `void fit(const Plate &u, const Plate &v)`, which refuses plates that share memory.

    It refuses plates of different shapes, too, and accepts all others. To refuse is to throw a ValueError. The text is
    compiled, and called with addresses that must not be read.
    """
    if "fit" not in fit:
        return "Not yet: the text has no function `fit`."
    base, h, w = 4 * random.randrange(2**30, 2**32), random.randrange(3, 9), random.randrange(3, 9)
    size = 4 * h * w  # bytes
    cases = [
        (0, 64 * size, "two separate plates are refused, v far above u in memory"),
        (0, 0, "u and v are one array, and `fit` accepts them"),
        (0, 4 * w, "v begins with u's second row, and `fit` accepts them"),
        (size - 4, 0, "u begins with v's last cell, and `fit` accepts them"),
        (0, size - 4, "v begins with u's last cell, and `fit` accepts them"),
        (0, 4 * random.randrange(1, h * w), "v begins within u, and `fit` accepts them"),
        (4 * random.randrange(1, h * w), 0, "u begins within v, and `fit` accepts them"),
        (64 * size, 0, "two separate plates are refused, v far below u in memory"),
        (0, size, "v begins where u ends: they share no cell, and are refused"),
        (size, 0, "u begins where v ends: they share no cell, and are refused"),
    ]
    calls = [[base + u, h, w, base + v, h, w] for u, v, _ in cases]
    shapes = [[base, h, w, base + 64 * size, h + 1, w], [base, h, w, base + 64 * size, h, w + 1]]
    with TemporaryDirectory(prefix="fourways-") as folder:
        source, module = Path(folder, "heat.cpp"), Path(folder, "heat.so")
        source.write_text(_PLATES.replace("FIT", fit))
        try:
            _compile(source, module)
        except RuntimeError as error:
            return _not_yet(error)
        try:
            told = json.loads(
                _run(sys.executable, "-c", _FITS, folder, json.dumps(calls + shapes), timeout=20).splitlines()[-1]
            )
        except (RuntimeError, subprocess.TimeoutExpired):
            return "Not yet: the call crashed, or did not end. Compare the addresses; do not read what lies there."
    for (u, v, problem), exception in zip(cases, told, strict=False):
        apart = abs(u - v) >= size
        if apart == bool(exception):
            return f"Not yet: {problem}."
        if exception not in ("", "ValueError"):
            return f"Not yet: {exception} came for plates that overlap; wanted is a ValueError."
    if told[len(cases) :] != ["ValueError"] * len(shapes):
        return "Not yet: plates of different shapes are no longer refused with a ValueError."
    return f"Right for {len(told)} pairs of plates."


def check_built_for(cmake: str, cpp: str) -> str:
    """Judge commands of CMake and a line of C++ that make `heat.built_for` the value of CMAKE_CUDA_ARCHITECTURES.

    The commands follow `pybind11_add_module(heat …)` in CMakeLists.txt; the line stands in `PYBIND11_MODULE(heat, m)`.
    A module is built for several values, and asked.
    """
    values = random.sample(("80-real", "90-virtual", "86-real", "120-virtual", "100-real"), 2)
    with TemporaryDirectory(prefix="fourways-") as folder:
        project, build = Path(folder, "heat"), Path(folder, "build")
        project.mkdir()
        (project / "CMakeLists.txt").write_text(_BUILT_FOR_CMAKE.replace("YOURS", cmake))
        (project / "heat.cpp").write_text(_BUILT_FOR_CPP.replace("YOURS", cpp))
        for value in values:
            (build / "CMakeCache.txt").unlink(missing_ok=True)
            try:
                _configure_and_build(project, build, value)
                ask = "import sys; sys.path.insert(0, sys.argv[1]); import heat; print(repr(heat.built_for))"
                answer = _run(sys.executable, "-c", ask, build).strip()
            except RuntimeError as error:
                return _not_yet(error)
            if answer != repr(value):
                return f"Not yet: CMake was called for {value}, and heat.built_for is {answer}."
    return f"Right for {len(values)} values of CMAKE_CUDA_ARCHITECTURES."


def _configure_and_build(project: Path, build: Path, architectures: str) -> None:
    import pybind11

    options = [f"-Dpybind11_DIR={pybind11.get_cmake_dir()}", f"-DCMAKE_CUDA_ARCHITECTURES={architectures}"]
    options += ["-DCMAKE_CXX_FLAGS=-O0", "-DCMAKE_BUILD_TYPE=Debug"]
    building.build_with_cmake(project, build, options, "CMake could not build the module")


def _compile(source: Path, module: Path) -> None:
    """Compile a pybind11 module without optimisation. Raises RuntimeError with the compiler's words."""
    import pybind11

    folders = [f"-I{sysconfig.get_path('include')}", f"-I{pybind11.get_include()}"]
    _run(toolchain.host_compiler(), "-shared", "-fPIC", "-std=c++17", "-O0", *folders, source, "-o", module)


def _not_yet(error: Exception) -> str:
    """Return "Not yet: " and the first line of a compiler, of CMake or of Python that says what is wrong."""
    lines = str(error).splitlines()
    wrong = [line[line.index("error: ") :] for line in lines if "error: " in line]
    wrong += re.findall(r"CMake Error.*:\s*\n\s*(\S.*)", str(error)) or lines[-1:]
    return f"Not yet: {wrong[0]}"
