"""The tools of this machine with their versions, and checks whether they work together; a finding has its remedy."""

import contextlib
import csv
import importlib.metadata
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fourways import kernels, profiling, toolchain
from fourways.toolchain import SETUP, Driver, Gpu, version

LESSON_MACHINE = ("cupy", "numpy", "jupytext", "nbclient", "ipykernel", "matplotlib")
WITHOUT_GPU = "compiling, reading SASS, building the pybind11 module, the host way, the book, cells that need no GPU"
UPDATE_DRIVER = "update the NVIDIA driver, or take a toolkit no newer than it (`nvidia-smi` prints its CUDA version)"
PYCUDA = "fourways install-pycuda"
_GET_VERSION = "import pycuda.driver as d; print('CUDA %d.%d.%d' % d.get_version())"
_BUILDERS = ("cmake", "ninja")
_MODULES = {
    "cupy": toolchain.CUPY,
    "cuda.core": ("cuda-core",),
    "cuda.bindings": ("cuda-bindings",),
    "pycuda": ("pycuda",),
    "pybind11": ("pybind11",),
    "fourways_aot": ("fourways",),
}


@dataclass(frozen=True)
class Tool:
    """A tool: its file or folder, None if it is missing, its version, and what named this place ("CUDA_PATH")."""

    name: str
    path: Path | None = None
    version: str | None = None
    why: str = ""


def tools() -> dict[str, Tool]:
    """Return every tool by its name, missing ones too. Each program is asked for its version."""
    try:
        host = toolchain.host_compiler()
    except kernels.InputError:  # `_lacking` says why
        host = None
    beside = {name: shutil.which(name, path=Path(sys.executable).parent) or shutil.which(name) for name in _BUILDERS}
    paths = {name: toolchain.program(name) for name in ("nvcc", "cuobjdump", "nvdisasm")}
    with contextlib.suppress(FileNotFoundError):
        paths["ncu"] = Path(profiling.find_ncu())
    paths |= {"host compiler": host} | {name: Path(path) if path else None for name, path in beside.items()}
    listed = [_tool(name, path, toolchain.program_version) for name, path in paths.items()]
    for name in ("NVRTC", "nvJitLink"):  # the ones that CuPy and cuda.core load
        library = toolchain.loaded_library(name if name == "nvJitLink" else name.lower())
        listed.append(_tool(name, library, partial(toolchain.library_version, name)))
    headers = toolchain.cuda_headers()
    listed.append(_tool("CUDA headers", headers and headers / "cuda_runtime_api.h", toolchain.header_version, headers))
    for module, names in _MODULES.items():
        file = toolchain.installed(module)
        told = next(iter(toolchain.distributions(*names).values()), None)
        place = file.parent if file and file.stem == "__init__" else file
        listed.append(_tool(module, place, partial(lambda version, _: version, told)))
    if driver := toolchain.driver():
        listed.append(Tool("driver", toolchain.loaded_library("cuda"), driver.version, f"CUDA {driver.cuda}"))
    return {tool.name: tool for tool in listed}


def _tool(name: str, file: Path | None, version: Callable[[Path], str | None], place: Path | None = None) -> Tool:
    """Return a tool with the version that `version(file)` gives; its path is `place`, by default the file."""
    path = place or file
    return Tool(name, path, version(file), f"from {origin(path)}") if file and path else Tool(name, why="not found")


def origin(path: Path) -> str:
    """Return in words where a file comes from: the toolkit that holds it, or the folder."""
    named = (words for root, words in toolchain.roots().items() if path.is_relative_to(root))
    own = "this Python environment" if path.is_relative_to(sys.prefix) else f"PATH, {path.parent}"
    return next(named, own)


@dataclass(frozen=True)
class Finding:
    """Something wrong with a tool: `level` is note, warning (a way does not work) or error (a lesson cannot run)."""

    tool: str
    level: str
    what: str
    remedy: str = ""


Findings = Iterator[Finding]
Tools = Mapping[str, Tool]


def judge(tools: Tools, driver: Driver | None, gpus: Sequence[Gpu]) -> Findings:
    """Yield what is wrong with these tools (`tools.tools`), this driver and these GPUs, and between them."""
    yield from _lacking(tools, driver)
    yield from _installation()
    yield from _driver(tools, driver)
    yield from _nvrtc(tools, gpus)
    if driver and tools["pycuda"].path:  # without a driver PyCUDA cannot be imported, and that is no problem
        yield from _pycuda(tools, driver)
    yield from _binding(tools, gpus)


def _lacking(tools: Tools, driver: Driver | None) -> Findings:
    if reason := toolchain.missing("gpu"):
        what = f"{reason}. What works without: {WITHOUT_GPU}"
        yield Finding("GPU", "warning" if driver else "note", what, "nvidia-smi" if driver else "")
    levels = {"nvcc": "error", "host compiler": "error", "fourways_aot": "warning"}
    levels |= {"pycuda": "warning"} if driver else {}
    levels |= {module: "note" for module in toolchain.PACKAGES if driver or module not in toolchain.MORE}
    for need, level in levels.items():
        try:
            reason = toolchain.missing(need)
        except kernels.InputError as error:  # CXX names no compiler
            reason = str(error)
        if reason:
            what, _, remedy = reason.partition(": ")
            yield Finding(need, level, f"{what}: cells that need it are skipped" if level == "note" else what, remedy)
    needed = {"NVRTC": "error", "CUDA headers": "error"}
    needed |= dict.fromkeys(("cuobjdump", "nvdisasm", "cmake", "ninja", "nvJitLink"), "warning")
    for name, level in needed.items():
        if tools[name].path is None:
            yield Finding(name, level, f"no {name} found", SETUP)


def _installation() -> Findings:
    try:
        kernels.root()
    except FileNotFoundError as problem:
        what, _, remedy = str(problem).partition(": ")
        yield Finding("clone", "error", what, remedy)
    if lacking := [module for module in LESSON_MACHINE if not toolchain.installed(module)]:
        yield Finding("packages", "error", f"no lesson can run without: {', '.join(lacking)}", SETUP)
    if len(both := list(toolchain.distributions(*toolchain.CUPY))) > 1:
        remedy = f"pip uninstall {' '.join(both)}; {SETUP}"
        yield Finding("cupy", "error", f"{' and '.join(both)} overwrite each other's files", remedy)
    own = Path(sys.prefix).name == ".venv"
    for package in importlib.metadata.distributions():  # after an interrupted installation, files are missing
        listed = (row[0] for row in csv.reader((package.read_text("RECORD") or "").splitlines()) if row)
        files = [name for name in listed if not name.endswith(".pyc")]
        if count := sum(not Path(str(package.locate_file(name))).exists() for name in files):
            remedy = f"rm -rf .venv; {SETUP}" if own else f"pip install --force-reinstall --no-deps {package.name}"
            what = f"the package {package.name} lacks {count} of its files"
            yield Finding("packages", "error" if own else "warning", what, remedy)


def _driver(tools: Tools, driver: Driver | None) -> Findings:
    """Compare what makes code with the driver that runs it.

    Source: docs.nvidia.com/deploy/cuda-compatibility, "Minor Version Compatibility".
    """
    for name in ("nvcc", "NVRTC"):
        if driver is None or tools[name].version is None:
            continue
        ours, theirs = version(tools[name].version), version(driver.cuda)
        pair = f"{name} {tools[name].version} and the driver (CUDA {driver.cuda})"
        if ours.major > theirs.major:
            what = f"{pair}: the driver is too old to run anything of CUDA {ours.major}"
            yield Finding(name, "error", what, UPDATE_DRIVER)
        elif ours > theirs:
            what = f"{pair}: machine code runs, but the driver cannot compile the newer PTX"
            yield Finding(name, "warning", f"{what} (CUDA_ERROR_UNSUPPORTED_PTX_VERSION)", UPDATE_DRIVER)


def _nvrtc(tools: Tools, gpus: Sequence[Gpu]) -> Findings:
    nvrtc, headers = tools["NVRTC"], tools["CUDA headers"]
    if nvrtc.path is None:
        return
    if headers.path and version(headers.version) != version(nvrtc.version):
        what = f"NVRTC {nvrtc.version} is from {origin(nvrtc.path)}, the CUDA headers {headers.version} from"
        yield Finding("NVRTC", "warning", f"{what} {origin(headers.path)}", SETUP)
    for wheel in toolchain.distributions(*toolchain.CUPY):
        if nvrtc.version and wheel not in ("cupy", f"cupy-cuda{version(nvrtc.version).major}x"):
            yield Finding("cupy", "error", f"{wheel} does not go with the NVRTC {nvrtc.version} that it loads", SETUP)
    for gpu in gpus:  # for a GPU newer than NVRTC, CuPy compiles for the newest that NVRTC knows
        if nvrtc.version and version(nvrtc.version).major >= 13 and int(gpu.arch.removeprefix("sm_")) < 75:
            what = f"NVRTC {nvrtc.version} does not compile for {gpu.name} ({gpu.arch}): CUDA 13 begins with sm_75"
            yield Finding("NVRTC", "error", what, "take CUDA 12")


def _pycuda(tools: Tools, driver: Driver) -> Findings:
    done, nvcc = toolchain.run(sys.executable, "-W", "ignore", "-c", _GET_VERSION), tools["nvcc"].version
    if not (built := re.search(r"CUDA (\d+\.\d+)", done.stdout)):
        problem = (done.stderr.strip().splitlines() or ["no message"])[-1]
        yield Finding("pycuda", "warning", f"PyCUDA cannot be imported: {problem}", PYCUDA)
    elif nvcc and not version(nvcc).major == version(built[1]).major <= version(driver.cuda).major:
        what = f"PyCUDA is built against CUDA {built[1]}; nvcc is {nvcc}, the driver's CUDA {driver.cuda}"
        yield Finding("pycuda", "warning", what, PYCUDA)


def _binding(tools: Tools, gpus: Sequence[Gpu]) -> Findings:
    module, tool = tools["fourways_aot"].path, toolchain.program("cuobjdump")
    if not (module and tool and gpus):
        return
    machine = re.findall(r"\bsm_\d+[af]?\b", toolchain.run(tool, "--list-elf", module).stdout)
    ptx = re.findall(r"\bsm_(\d+[af]?)\b", toolchain.run(tool, "--list-ptx", module).stdout)
    holds = {*machine, *(f"compute_{number}" for number in ptx)}
    for gpu in gpus:
        if holds and not toolchain.runs_on(holds, gpu.arch):
            what = f"fourways_aot holds code for {', '.join(sorted(holds))}; none runs on {gpu.name} ({gpu.arch})"
            remedy = "build it on this machine: rm -rf build .venv/.ready*; make setup"
            yield Finding("fourways_aot", "warning", what, remedy)
