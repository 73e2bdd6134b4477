"""The judges of lesson 05's exercises: they build a learner's C++ and CMake, and need no nvcc."""

import random
import re
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

from fourways import building, fresh_process, toolchain
from fourways.experiments import tools

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
task = json.load(sys.stdin)
sys.path.insert(0, task["folder"])
import heat
told = []
for call in task["calls"]:
    try:
        heat.fit(*call)
        told.append("")
    except Exception as error:
        told.append(type(error).__name__)
print(json.dumps({"told": told}))
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
            task = {"folder": folder, "calls": calls + shapes}
            answer = fresh_process.start(_FITS, task=task, timeout=20).answer
        except fresh_process.ProgramError:  # it did not end
            answer = None
        except RuntimeError as error:
            return _not_yet(error)
    if answer is None:
        return "Not yet: the call crashed, or did not end. Compare the addresses; do not read what lies there."
    told = answer["told"]
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
    options = ["-DCMAKE_CXX_FLAGS=-O0", "-DCMAKE_BUILD_TYPE=Debug"]
    ask = "import sys; sys.path.insert(0, sys.argv[1]); import heat; print(repr(heat.built_for))"
    values = random.sample(("80-real", "90-virtual", "86-real", "120-virtual", "100-real"), 2)
    with TemporaryDirectory(prefix="fourways-") as folder:
        project, build = Path(folder, "heat"), Path(folder, "build")
        project.mkdir()
        (project / "CMakeLists.txt").write_text(_BUILT_FOR_CMAKE.replace("YOURS", cmake))
        (project / "heat.cpp").write_text(_BUILT_FOR_CPP.replace("YOURS", cpp))
        for value in values:
            (build / "CMakeCache.txt").unlink(missing_ok=True)
            try:
                told = [f"-DCMAKE_CUDA_ARCHITECTURES={value}", *options]
                building.build_with_cmake(project, build, told, "CMake could not build the module")
                answer = tools.output(sys.executable, "-c", ask, build).strip()
            except RuntimeError as error:
                return _not_yet(error)
            if answer != repr(value):
                return f"Not yet: CMake was called for {value}, and heat.built_for is {answer}."
    return f"Right for {len(values)} values of CMAKE_CUDA_ARCHITECTURES."


def _compile(source: Path, module: Path) -> None:
    """Compile a pybind11 module without optimisation. Raises RuntimeError with the compiler's words."""
    import pybind11

    folders = [f"-I{sysconfig.get_path('include')}", f"-I{pybind11.get_include()}"]
    tools.output(toolchain.host_compiler(), "-shared", "-fPIC", "-std=c++17", "-O0", *folders, source, "-o", module)


def _not_yet(error: Exception) -> str:
    """Return "Not yet: " and the first line of a compiler, of CMake or of Python that says what is wrong."""
    words = str(error)
    wrong = re.findall("error: .*", words) or re.findall(r"CMake Error.*:\s*\n\s*(\S.*)", words)
    return f"Not yet: {(wrong or words.splitlines()[-1:])[0]}"
