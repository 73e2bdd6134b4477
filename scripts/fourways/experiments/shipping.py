"""What lesson 13 ships: code for several architectures, a wheel that holds it, a module that finds its libraries.

Loading and timing code need a GPU. Building, the tools' choice of an nvcc, the wheel, the loader and the judges of the
lesson's exercises need none.
"""

import os
import posixpath
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from packaging import tags
from packaging.utils import parse_wheel_filename

from fourways import building, kernels, timing, toolchain
from fourways.tables import RANGE, Column, Row, Table, summary

NEWER = "PTX of a newer toolkit"
"""The name of PTX whose version number is higher than any driver's."""


def code(name: str) -> bytes:
    """Return the stencil's code by its name: machine code "sm_90", PTX "compute_75", or `NEWER`; compiled by NVRTC.

    `NEWER` is PTX for compute_75 with the version number 99.0.
    """
    if name == NEWER:
        return re.sub(rb"\.version \d+\.\d+", b".version 99.0", code("compute_75"))
    kind, number = name.split("_")
    return building.build(kernels.path("stencil"), "nvrtc", number, "ptx" if kind == "compute" else "cubin").code


# --- on the GPU ------------------------------------------------------------------------------------------------------


def _loaded(file: Path) -> Any:
    """Load the code in a file, and return its kernel `stencil`. CuPy keeps modules by path: take a new path each time.

    Raises cupy.cuda.driver.CUDADriverError if the driver refuses the code.
    """
    import cupy as cp

    kernel = cp.RawModule(path=str(file)).get_function("stencil")
    assert kernel.num_regs > 0  # asks for the function, so the code has been loaded
    return kernel


def attempt(names: Sequence[str]) -> Table:
    """Load each code on this GPU, and return a table: what the driver said, and what `toolchain.runs_on` says."""
    import cupy as cp

    gpu, rows = toolchain.gpus()[0].arch, []
    with TemporaryDirectory(prefix="fourways-") as folder:
        for number, name in enumerate(names):
            file = Path(folder, str(number))
            file.write_bytes(code(name))
            try:
                _loaded(file)
                said = "loaded"
            except cp.cuda.driver.CUDADriverError as error:
                said = str(error).split(":")[0]
            rows.append(
                {"code": name, "driver": said} | ({} if name == NEWER else {"rule": toolchain.runs_on([name], gpu)})
            )
    return Table("codes", rows, ["code", ("starts, by the rule", "rule"), (f"the driver of {gpu}", "driver")])


_IN_A_NEW_PROCESS = """
import sys, time
import cupy as cp
for path in sys.argv[1:]:  # the first one pays for the context
    start = time.perf_counter()
    cp.RawModule(path=path).get_function("stencil").num_regs
    seconds = time.perf_counter() - start
print(seconds)
"""


def first_loads(rounds: int = 7) -> Table:
    """Time loading the stencil (host clock): machine code for this GPU, PTX that is new to the driver, and known PTX.

    A comment with the time makes PTX new, so that the driver's cache cannot hold it. Each round loads it twice in this
    process, and once more in a fresh one.
    """
    own, ptx = code(toolchain.gpus()[0].arch), code("compute_75").rstrip(b"\0")
    names = ("machine code", "PTX, new", "PTX, again", "PTX, in another process")
    samples: dict[str, list[float]] = {name: [] for name in names}
    with TemporaryDirectory(prefix="fourways-") as folder:
        for number in range(rounds + 1):  # the first round is a warm-up
            unseen = ptx + f"// {time.time_ns()}\n".encode()
            for name, content in zip(names, (own, unseen, unseen), strict=False):
                file = Path(folder, f"{number} {name}")
                file.write_bytes(content)
                start = time.perf_counter()
                _loaded(file)
                samples[name].append(time.perf_counter() - start)
            words = [sys.executable, "-c", _IN_A_NEW_PROCESS, *(f"{folder}/{number} {name}" for name in names[:2])]
            done = subprocess.run(words, check=True, capture_output=True, text=True, env=toolchain.child_environment())
            samples[names[3]].append(float(done.stdout))
    rows: list[Row] = [
        {"load": name, "clock": "host", "seconds": summary(seconds[1:])} for name, seconds in samples.items()
    ]
    return Table("first_loads", rows, [("loading", "load"), "seconds", RANGE], f"Host clock, {rounds} rounds.")


def speeds(blocks: Callable[[Any], tuple[int, int]], block: tuple[int, int], side: int = 4096) -> Table:
    """Time the stencil on a plate of side² cells (device clock): from machine code for this GPU, from PTX for 7.5.

    `blocks(u)` is the grid for a plate. Raises AssertionError if the two differ in their result.
    """
    import cupy as cp

    u = cp.random.default_rng(1).random((side, side), dtype=cp.float32)
    calls, results = {}, []
    with TemporaryDirectory(prefix="fourways-") as folder:
        for title, name in (("machine code", toolchain.gpus()[0].arch), ("PTX for 7.5", "compute_75")):
            file, v = Path(folder, name), cp.full_like(u, np.nan)
            file.write_bytes(code(name))
            calls[title] = partial(_loaded(file), blocks(u), block, (u, v, np.int64(side), np.int64(side)))
            calls[title]()
            results.append(v)
        assert bool((results[0] == results[1]).all()), "the two codes differ in their result"
        return timing.time_calls(calls, moved=2 * u.nbytes, name="speeds")


# --- who builds ------------------------------------------------------------------------------------------------------


def by_nvcc(name: str) -> None:
    """Build the stencil by `nvcc -arch=NAME` where no GPU is seen, and print exit code, warning and architecture."""
    with TemporaryDirectory(prefix="fourways-") as folder:
        file = Path(folder, "stencil.cubin")
        words = [str(toolchain.nvcc()), f"-arch={name}", "-cubin", "-x", "cu", "-o", str(file)]
        hidden = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
        done = subprocess.run([*words, str(kernels.path("stencil"))], env=hidden, capture_output=True, text=True)
        print(f"nvcc -arch={name}: exit code {done.returncode}", *done.stderr.splitlines()[:1], sep="\n")
        if file.exists():
            listed = _said(toolchain.program("cuobjdump"), "--list-elf", file)
            print("it built", *re.findall(r"sm_\w+", listed) or ["?"])


def _said(*words: Any, env: dict[str, str] | None = None) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=env)
    return done.stdout + done.stderr


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
            _write_fake(root / "bin" / "nvcc", place, folder / "asked")
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


def _write_fake(file: Path, place: str, asked: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(_FAKE_NVCC.format(place=place, asked=asked))
    file.chmod(0o755)


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
    said = _said(*words, env=variables)
    if asked.exists():
        return asked.read_text().splitlines()[0]
    printed = [place for place, root in places.items() if f"{root.resolve()}/bin/nvcc" in said or f"{root}/bin" in said]
    return printed[0] if printed else (said.splitlines() or ["nothing"])[-1][:60]


# --- the wheel -------------------------------------------------------------------------------------------------------


class Project:
    """A folder with a Python project, and a folder `site` into which its wheel is unpacked, as pip would do.

    Both are deleted with this object.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="fourways-")
        self._root, self.site = Path(self._folder.name, "project"), Path(self._folder.name, "site")

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file of the project: a text, or bytes as they are."""
        file = self._root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.lstrip("\n").encode())

    def wheel(self) -> Table:
        """Build the project's wheel by the hook that pip calls, unpack it, and return its files with their bytes.

        Raises subprocess.CalledProcessError if the hook fails.
        """
        hook = "from scikit_build_core.build import build_wheel; build_wheel('dist')"
        subprocess.run([sys.executable, "-c", hook], cwd=self._root, check=True, capture_output=True)
        (wheel,) = (self._root / "dist").glob("*.whl")
        rows: list[Row] = [{"file": wheel.name, "bytes": wheel.stat().st_size}]
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(self.site)
            rows += [{"file": part.filename, "bytes": part.file_size} for part in packed.infolist()]
        return Table("wheel", rows, ["bytes", "file"])


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


# --- how a module finds libcudart ------------------------------------------------------------------------------------

_USES_RUNTIME = """
extern "C" int cudaRuntimeGetVersion(int *);
extern "C" int runtime_version() { int version = 0; cudaRuntimeGetVersion(&version); return version; }
"""
_LIBRARIES = "nvidia/cu13/lib"
"""The folder of libcudart in NVIDIA's wheels, below site-packages."""


def find_runtime() -> Table:
    """Link a module with libcudart in four ways, and ask the system's loader for the library; then move the folder.

    The folder is laid out as pip does: the module in `heat`, NVIDIA's library in `nvidia/cu13/lib`. The loader gets no
    LD_LIBRARY_PATH and no cache of the system's libraries, as on a machine without a CUDA toolkit.
    """
    (shared, *_) = toolchain.in_roots(
        "lib/libcudart.so.*", "lib64/libcudart.so.*", f"{toolchain.TARGET}/lib/libcudart.so.*"
    )
    (static, *_) = toolchain.in_roots("lib*/libcudart_static.a", f"{toolchain.TARGET}/lib/libcudart_static.a")
    soname = ".".join(shared.name.split(".")[:3])
    with TemporaryDirectory(prefix="fourways-") as name:
        folder = Path(name).resolve()
        site, moved = folder / "site-packages", folder / "elsewhere"
        (site / _LIBRARIES).mkdir(parents=True)
        (site / "heat").mkdir()
        library = Path(shutil.copy(shared.resolve(), site / _LIBRARIES / soname))
        (folder / "heat.cpp").write_text(_USES_RUNTIME)
        links: dict[str, list[Any]] = {
            "static": [static, "-lpthread", "-ldl", "-lrt"],
            "shared": [library],
            "shared, RPATH with the build machine's folder": [library, f"-Wl,-rpath,{library.parent}"],
            "shared, RPATH $ORIGIN/../nvidia/cu13/lib": [library, f"-Wl,-rpath,$ORIGIN/../{_LIBRARIES}"],
        }
        modules = {}
        for number, (title, words) in enumerate(links.items()):
            modules[title] = site / "heat" / f"heat{number}.so"
            made = ("-shared", "-fPIC", "-s", folder / "heat.cpp", *words, "-o", modules[title])
            said = _said(toolchain.host_compiler(), *made)
            if not modules[title].exists():
                raise RuntimeError(f"the module could not be linked:\n{said}")
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
    said = _said(loader, "--inhibit-cache", "--list", module, env=variables)
    line = next((line for line in said.splitlines() if "libcudart" in line), "")
    return "inside" if not line else "not found" if "not found" in line or "cannot open" in line else "found"


_LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")


# --- judges ----------------------------------------------------------------------------------------------------------


def check_pick(function: Callable[[Sequence[str], str], Any]) -> str:
    """Judge `function(held, gpu)`: the code that starts fastest on a GPU, or None if none of those held starts.

    Machine code comes before PTX, and newer code before older. It is tried on chosen and on random wheels and GPUs.
    """
    numbers = np.random.default_rng()
    known = (
        "compute_75",
        "compute_80",
        "compute_90a",
        "compute_100",
        "compute_100f",
        "sm_75",
        "sm_80",
        "sm_86",
        "sm_90",
        "sm_90a",
        "sm_100",
        "sm_100f",
        "sm_120a",
    )
    wheel = ["sm_80", "compute_75", "sm_86", "sm_90a", "sm_100f"]
    cases = [(wheel, gpu) for gpu in ("sm_90", "sm_86", "sm_103", "sm_120", "sm_75", "sm_70", "sm_89")]
    cases += [(["sm_80", "sm_90"], "sm_120"), (["compute_90", "compute_100"], "sm_120"), (["sm_120a"], "sm_121")]
    for _ in range(60):
        held = [str(name) for name in numbers.permutation(known)[: int(numbers.integers(1, 7))]]
        cases.append((held, str(numbers.choice(["sm_75", "sm_80", "sm_89", "sm_90", "sm_103", "sm_110", "sm_121"]))))
    for held, gpu in cases:
        answer = function(list(held), gpu)
        if problem := _misfit(answer, held, gpu):
            return f"Not yet: of {', '.join(held)}, {answer!r} came for {gpu}. {problem}"
    return f"Right for {len(cases)} wheels and GPUs."


def _misfit(answer: Any, held: Sequence[str], gpu: str) -> str:
    """Return what is wrong with an answer to exercise 1, or ""."""
    fits = [name for name in held if toolchain.runs_on([name], gpu)]
    if answer is None:
        return "One of them does start there." if fits else ""
    if answer not in held:
        return "The wheel does not hold that."
    if answer not in fits:
        if answer.endswith("a"):
            return "An `a` starts on the very GPU that it names, and on no other."
        if int(re.sub(r"\D", "", answer)) > int(gpu.removeprefix("sm_")):
            return "That code is for newer GPUs."
        return "Machine code never crosses a major version; PTX does."
    best = max(map(_rank, fits))
    if _rank(answer)[0] < best[0]:
        return "PTX must be compiled first; some machine code starts at once."
    return "Newer code is held that starts there, too." if _rank(answer) < best else ""


def _rank(name: str) -> tuple[bool, int]:
    return name.startswith("sm_"), int(re.sub(r"\D", "", name))


def check_rpath(function: Callable[[str], Any]) -> str:
    """Judge `function(module)`: an RPATH by which a module below site-packages finds `nvidia/cu13/lib`.

    `module` is a path such as "heat/_heat.so". The loader's rules are followed for modules at chosen and random depths
    in two site-packages: it puts the module's folder for $ORIGIN, and takes other relative folders from the current
    one.
    """
    numbers = np.random.default_rng()
    modules = ["heat/_heat.so", "heat/backends/_heat.so", "_heat.so"]
    for _ in range(20):
        depth = int(numbers.integers(1, 12))
        modules.append("/".join(f"part{number}" for number in range(depth)) + "/_heat.so")
    for module in modules:
        answer = function(module)
        if not isinstance(answer, str) or not answer:
            return f"Not yet: {module}: {answer!r} is not a str with a folder."
        if answer.count(":") > 1:
            return f"Not yet: {module}: {answer} lets the loader search many folders; one is enough."
        for site in ("/home/ada/venv/lib/python3.12/site-packages", "/opt/python/site-packages"):
            origin = posixpath.dirname(f"{site}/{module}")
            if re.search(r"[^./]/+\.\.(/|$)", answer.replace("$ORIGIN", "..").replace("${ORIGIN}", "..")):
                return f"Not yet: {module}: {answer} goes through a folder that need not exist."
            places = [re.sub(r"\$ORIGIN|\$\{ORIGIN\}", origin, entry) for entry in answer.split(":")]
            if f"{site}/{_LIBRARIES}" in map(posixpath.normpath, places):
                continue
            if any(entry.startswith("/") for entry in answer.split(":")):
                return f"Not yet: {module}: {answer} is one machine's folder, and on another the library is elsewhere."
            if "ORIGIN" not in answer:
                return f"Not yet: {module}: {answer} begins at the current folder, wherever the user is at the time."
            looked = posixpath.relpath(posixpath.normpath(places[0]), site)
            return f"Not yet: {module}: the loader would look in site-packages/{looked}."
    return f"Right for {len(modules)} modules."
