"""A wheel: the nvcc that builds it, its files, which of them pip takes, and the libcudart that its module needs."""

import os
import re
import shutil
import sys
import sysconfig
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging import tags
from packaging.utils import parse_wheel_filename

from fourways import kernels, toolchain
from fourways.experiments import projects, tools
from fourways.tables import Column, Row, Table


class Project(projects.Project):
    """A Python project, whose wheel is unpacked into its `site`, as pip would do."""

    def wheel(self) -> Table:
        """Build the project's wheel by the hook that pip calls, unpack it, and return its files with their bytes.

        Raises RuntimeError if the hook fails.
        """
        hook = "from scikit_build_core.build import build_wheel; build_wheel('dist')"
        tools.output(sys.executable, "-c", hook, folder=self._root)
        (wheel,) = (self._root / "dist").glob("*.whl")
        shutil.unpack_archive(wheel, self.site, "zip")
        return Table("wheel", projects.wheel_rows(wheel), ["bytes", "file"])


_USERS = {
    "Linux of 2024 (glibc 2.39)": [f"manylinux_2_{minor}_x86_64" for minor in range(39, 16, -1)],
    "Linux of 2014 (glibc 2.17)": ["manylinux_2_17_x86_64"],
    "Windows": ["win_amd64"],
}


def which_file(offered: Mapping[str, Sequence[str]], versions: Sequence[tuple[int, int]]) -> Table:
    """Return which of the offered files pip takes, by package, for users of three systems and of Python `versions`.

    A package's files are wheels and sdists (`.tar.gz`), by name. pip takes the first wheel in the order of the user's
    tags, and an sdist only if no wheel fits.
    """
    rows: list[Row] = []
    for system, platforms in _USERS.items():
        for version in versions:
            told = [*tags.cpython_tags(version, platforms=platforms)]
            told += tags.compatible_tags(version, f"cp{version[0]}{version[1]}", platforms)
            chosen = {package: _chosen(files, told) for package, files in offered.items()}
            rows.append({"system": system, "Python": f"{version[0]}.{version[1]}"} | chosen)
    return Table("which_file", rows)


def _chosen(files: Sequence[str], told: Sequence[tags.Tag]) -> str:
    wheels = {file: parse_wheel_filename(file)[3] for file in files if file.endswith(".whl")}
    fitting = [file for tag in told for file, its in wheels.items() if tag in its]
    return next(iter(fitting), "sdist: compiles" if len(wheels) < len(files) else "an error")


def by_nvcc(name: str) -> None:
    """Build the stencil by `nvcc -arch=NAME` where no GPU is seen, and print exit code, warning and architecture."""
    with TemporaryDirectory(prefix="fourways-") as folder:
        file = Path(folder, "stencil.cubin")
        words = (f"-arch={name}", "-cubin", "-x", "cu", "-o", file, kernels.path("stencil"))
        done = toolchain.run(str(toolchain.nvcc()), *words, environment=os.environ | {"CUDA_VISIBLE_DEVICES": ""})
        print(f"nvcc -arch={name}: exit code {done.returncode}", *done.stderr.splitlines()[:1], sep="\n")
        if file.exists():
            listed = tools.output(toolchain.program("cuobjdump"), "--list-elf", file)
            print("it built", *re.findall(r"sm_\w+", listed) or ["?"])


_FAKE_NVCC = """#!/bin/sh
echo "{place}" >> "{asked}"
case "$*" in *--version*) echo "nvcc: release 13.0, V13.0.88";; *) exit 1;; esac
"""
_ASK_PYCUDA = 'from pycuda.compiler import compile_plain; compile_plain("", [], False, "nvcc", False)'


def which_nvcc() -> Table:
    """Ask CuPy, PyCUDA and CMake for their nvcc where three are installed; then where variables name a fourth one.

    The compilers are scripts: in a wheel of a virtual environment, in the folder that CUDA_PATH names, and first on
    PATH. "named" is the one that PATH, CUDA_PATH, CUDACXX and NVCC name together. A tool that is not installed has no
    row.
    """
    with TemporaryDirectory(prefix="fourways-") as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=False, symlinks=True)
        python = folder / "venv" / "bin" / "python"
        (site,) = (folder / "venv").glob("lib/python*/site-packages")
        places = {"wheel": site / "nvidia" / "cu13", "CUDA_PATH": folder / "toolkit", "PATH": folder / "on_path"}
        places["named"] = folder / "named"
        for place, root in places.items():
            (root / "bin").mkdir(parents=True)
            (root / "bin" / "nvcc").write_text(_FAKE_NVCC.format(place=place, asked=folder / "asked"))
            (root / "bin" / "nvcc").chmod(0o755)
        (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(any LANGUAGES CUDA)\n")
        asks = {"CuPy": [python, "-c", "import cupy; print(cupy.cuda.get_nvcc_path())"]}
        if toolchain.installed("pycuda"):
            asks["PyCUDA"] = [python, "-c", _ASK_PYCUDA]
        asks["CMake"] = ["cmake", "-GNinja", "-S", folder, "-B", folder / "build"]
        plain, named = _with_toolkits(places["PATH"], places["CUDA_PATH"]), _with_toolkits(*[places["named"]] * 2)
        named |= {"CUDACXX": f"{places['named']}/bin/nvcc", "NVCC": f"{places['named']}/bin/nvcc"}
        rows: list[Row] = []
        for tool, words in asks.items():
            chosen = [_asked(words, variables, folder, places) for variables in (plain, named)]
            rows.append({"tool": tool, "three": chosen[0], "named": chosen[1]})
    columns: list[Column] = ["tool", ("takes the nvcc of", "three"), ("after naming one", "named")]
    return Table("which_nvcc", rows, columns)


def _with_toolkits(on_path: Path, cuda_path: Path) -> dict[str, str]:
    """Return this process's variables, but with these two toolkits, and without others that name a compiler."""
    others = ("CUDACXX", "NVCC", "CUDA_HOME", "CONDA_PREFIX", "NVCC_CCBIN")
    variables = {name: value for name, value in os.environ.items() if name not in others}
    path = [str(on_path / "bin"), sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)]
    packages = os.pathsep.join(filter(os.path.isdir, sys.path))
    return variables | {"PATH": os.pathsep.join(path), "CUDA_PATH": str(cuda_path), "PYTHONPATH": packages}


def _asked(words: Sequence[Any], variables: dict[str, str], folder: Path, places: dict[str, Path]) -> str:
    """Return the place of the first nvcc that a command runs, or whose path it prints; without one, its last words."""
    asked = folder / "asked"
    asked.unlink(missing_ok=True)
    shutil.rmtree(folder / "build", ignore_errors=True)
    done = toolchain.run(*words, environment=variables)
    said = done.stdout + done.stderr
    if asked.exists():
        return asked.read_text().splitlines()[0]
    printed = [place for place, root in places.items() if f"{root.resolve()}/bin/nvcc" in said or f"{root}/bin" in said]
    return printed[0] if printed else (said.splitlines() or ["nothing"])[-1][:60]


_USES_RUNTIME = """
extern "C" int cudaRuntimeGetVersion(int *);
extern "C" int runtime_version() { int version = 0; cudaRuntimeGetVersion(&version); return version; }
"""
LIBRARIES = "nvidia/cu13/lib"
"""The folder of libcudart in NVIDIA's wheels, below site-packages."""


def find_runtime() -> Table:
    """Link a module with libcudart in four ways, and ask the system's loader for the library; then move the folder.

    The folder is laid out as pip does: the module in `heat`, NVIDIA's library in `nvidia/cu13/lib`. The loader gets no
    LD_LIBRARY_PATH and no cache of the system's libraries, as on a machine without a CUDA toolkit.
    """
    (shared, *_) = toolchain.in_roots("lib*/libcudart.so.*", f"{toolchain.TARGET}/lib/libcudart.so.*")
    (static, *_) = toolchain.in_roots("lib*/libcudart_static.a", f"{toolchain.TARGET}/lib/libcudart_static.a")
    soname = ".".join(shared.name.split(".")[:3])
    with TemporaryDirectory(prefix="fourways-") as name:
        folder = Path(name).resolve()
        site, moved = folder / "site-packages", folder / "elsewhere"
        (site / LIBRARIES).mkdir(parents=True)
        (site / "heat").mkdir()
        library = Path(shutil.copy(shared.resolve(), site / LIBRARIES / soname))
        (folder / "heat.cpp").write_text(_USES_RUNTIME)
        links: dict[str, list[Any]] = {
            "static": [static, "-lpthread", "-ldl", "-lrt"],
            "shared": [library],
            "shared, RPATH with the build machine's folder": [library, f"-Wl,-rpath,{library.parent}"],
            "shared, RPATH $ORIGIN/../nvidia/cu13/lib": [library, f"-Wl,-rpath,$ORIGIN/../{LIBRARIES}"],
        }
        modules = {}
        for number, (title, words) in enumerate(links.items()):
            modules[title] = site / "heat" / f"heat{number}.so"
            made = ("-shared", "-fPIC", "-s", folder / "heat.cpp", *words, "-o", modules[title])
            tools.output(toolchain.host_compiler(), *made)
        rows: list[Row] = [
            {"linked": title, "bytes": module.stat().st_size, "here": _needed(module)}
            for title, module in modules.items()
        ]
        site.rename(moved)
        for row, module in zip(rows, modules.values(), strict=True):
            row["moved"] = _needed(moved / module.relative_to(site))
    columns: list[Column] = [("libcudart", "linked"), "bytes", "here", ("folder moved", "moved")]
    return Table("libcudart", rows, columns)


def _needed(module: Path) -> str:
    """Return whether the loader finds the libcudart that a module needs: "found", "not found", or "inside"."""
    (loader, *_) = [path for path in map(Path, _LOADERS) if path.exists()]
    variables = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = toolchain.run(loader, "--inhibit-cache", "--list", module, environment=variables)
    line = next((line for line in (done.stdout + done.stderr).splitlines() if "libcudart" in line), "")
    return "inside" if not line else "not found" if "not found" in line or "cannot open" in line else "found"


_LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
