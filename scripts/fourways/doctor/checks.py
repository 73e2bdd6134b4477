"""Checks whether the tools of this machine work together. Each finding comes with its remedy."""

import csv
import ctypes
import importlib.metadata
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fourways import kernels, toolchain
from fourways.doctor.tools import Tool, origin
from fourways.toolchain import SETUP, Driver, Gpu, version

NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "beegfs", "ceph", "afs", "fuse.sshfs"}
LESSON_MACHINE = ("cupy", "numpy", "jupytext", "nbclient", "ipykernel", "matplotlib")
WITHOUT_GPU = "compiling, reading SASS, building the pybind11 module, the host way, the book, cells that need no GPU"
UPDATE_DRIVER = "update the NVIDIA driver, or take a toolkit no newer than it (`nvidia-smi` prints its CUDA version)"
PYCUDA = "fourways install-pycuda"
_GET_VERSION = "import pycuda.driver as d; print('CUDA %d.%d.%d' % d.get_version())"


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
    yield from _nvcc(tools)
    yield from _host_compiler(tools)
    yield from _driver(tools, driver)
    yield from _nvrtc(tools, gpus)
    yield from _linker(tools)
    if driver and tools["pycuda"].path:  # without a driver PyCUDA cannot be imported, and that is no problem
        yield from _pycuda(tools, driver)
    yield from _binding(tools, gpus)
    for name, (variable, folder) in toolchain.caches().items():
        yield from _cache(name, variable, folder)


def _lacking(tools: Tools, driver: Driver | None) -> Findings:
    """Look for what `toolchain.missing` knows, and for the other tools."""
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
    """Look for the clone's lessons, for what runs them, and for the files that the installed packages list."""
    try:
        lessons = kernels.root() / "lessons"
        if not list(lessons.glob("[0-9][0-9]_*.md")):
            remedy = "git checkout -- lessons (in the clone), or clone Four Ways again"
            yield Finding("clone", "error", f"no lessons in {lessons}", remedy)
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


def _nvcc(tools: Tools) -> Findings:
    nvcc, chosen = tools["nvcc"], os.environ.get("NVCC")
    if nvcc.path and nvcc.version is None:
        yield Finding("nvcc", "error", f"{nvcc.path} does not run: it prints no version", f"{nvcc.path} --version")
    if nvcc.path and chosen and Path(chosen) != nvcc.path:
        yield Finding("nvcc", "note", f"NVCC={chosen} is set, but lessons take {nvcc.path}", "unset NVCC")


def _host_compiler(tools: Tools) -> Findings:
    host = tools["host compiler"]
    if host.path is None:
        return
    name = f"{host.path} ({host.version})"
    probe = "#include <barrier>\nstd::barrier<> meeting(1);\n"
    if toolchain.run(host.path, "-std=c++20", "-fsyntax-only", "-xc++", "-", stdin=probe).returncode:
        what = f"{name} cannot compile C++20 with <barrier>"
        yield Finding("host compiler", "error", what, "install g++ 11 or newer; set CXX to it")
    kind, command = ("clang", "clang++") if "clang" in host.path.resolve().name else ("gcc", "g++")
    newest = newest_host_compiler(tools["CUDA headers"].path, kind)
    if newest and version(host.version).major > newest:
        what = f"{name} is too new for this nvcc, which takes up to version {newest}"
        yield Finding("host compiler", "warning", what, f"install {command}-{newest} and set CXX={command}-{newest}")


def newest_host_compiler(include: Path | None, kind: str) -> int | None:
    """Return the newest major version of gcc or clang that nvcc accepts, from its crt/host_config.h, or None."""
    header = include / "crt" / "host_config.h" if include else None
    macro = {"gcc": "__GNUC__", "clang": "__clang_major__"}[kind]
    text = header.read_text(errors="replace") if header and header.is_file() else ""
    match = re.search(rf"{macro} (>=?) (\d+)", text)
    return int(match[2]) - (match[1] == ">=") if match else None


def _driver(tools: Tools, driver: Driver | None) -> Findings:
    """Compare what makes code with the driver that runs it.

    Source: docs.nvidia.com/deploy/cuda-compatibility, "Minor Version Compatibility".
    """
    for name in ("nvcc", "NVRTC", "nvJitLink"):
        if driver is None or tools[name].version is None:
            continue
        links, ours, theirs = name == "nvJitLink", version(tools[name].version), version(driver.cuda)
        pair = f"{name} {tools[name].version} and the driver (CUDA {driver.cuda})"
        if ours.major > theirs.major:
            what = f"{pair}: the driver is too old to run anything of CUDA {ours.major}"
            yield Finding(name, "warning" if links else "error", what, UPDATE_DRIVER)
        elif ours > theirs:
            what = f"{pair}: machine code runs, but the driver cannot compile the newer PTX"
            remedy = "link to machine code (a cubin), as the lessons do" if links else UPDATE_DRIVER
            yield Finding(name, "note" if links else "warning", f"{what} (CUDA_ERROR_UNSUPPORTED_PTX_VERSION)", remedy)


def _nvrtc(tools: Tools, gpus: Sequence[Gpu]) -> Findings:
    nvrtc, headers = tools["NVRTC"], tools["CUDA headers"]
    if nvrtc.path is None:
        return
    if headers.path and origin(headers.path) != origin(nvrtc.path):
        alike = version(headers.version) == version(nvrtc.version)
        what = f"NVRTC {nvrtc.version} is from {origin(nvrtc.path)}, the CUDA headers {headers.version} from"
        what += f" {origin(headers.path)}" + ("; the versions agree" if alike else ", another version")
        yield Finding("NVRTC", "note" if alike else "warning", what, "" if alike else SETUP)
    for wheel in toolchain.distributions(*toolchain.CUPY):
        if nvrtc.version and wheel not in ("cupy", f"cupy-cuda{version(nvrtc.version).major}x"):
            yield Finding("cupy", "error", f"{wheel} does not go with the NVRTC {nvrtc.version} that it loads", SETUP)
    known = _nvrtc_architectures(nvrtc.path)
    for gpu in gpus:
        if known and int(gpu.arch.removeprefix("sm_")) not in known:
            span = f"sm_{min(known)} to sm_{max(known)}"
            what = f"NVRTC {nvrtc.version} does not compile for {gpu.name} ({gpu.arch}); it knows {span}"
            yield Finding("NVRTC", "error", what, "take the CUDA toolkit that names this GPU's architecture")


def _nvrtc_architectures(library: Path) -> list[int]:
    """Return the architectures that an NVRTC reports, [75, 80, ...], or [] if the library cannot be loaded."""
    count = ctypes.c_int()
    try:
        nvrtc = ctypes.CDLL(str(library))
        nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        nvrtc.nvrtcGetSupportedArchs(numbers)
    except (OSError, AttributeError):
        return []
    return sorted(numbers)


def _linker(tools: Tools) -> Findings:
    """Compare nvJitLink with the compilers that make its LTO-IR.

    Source: NVIDIA, "nvJitLink", section "Compatibility", docs.nvidia.com/cuda/nvjitlink.
    """
    linker = tools["nvJitLink"]
    for name in ("NVRTC", "nvcc"):
        if tools[name].version is None or linker.version is None:
            continue
        made, ours = version(tools[name].version), version(linker.version)
        pair = f"{name} {tools[name].version} and nvJitLink {linker.version}"
        if made > ours:
            what = f"{pair}: a linker takes LTO-IR of its own version or older, so LTO links fail"
            yield Finding("nvJitLink", "warning", what, f"install an nvidia-nvjitlink as new as the compiler: {SETUP}")
        elif made.major != ours.major:
            what = f"{pair}: a linker takes LTO-IR of its own major version alone, so LTO links fail"
            yield Finding("nvJitLink", "warning", what, f"install an nvidia-nvjitlink of CUDA {made.major}: {SETUP}")


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


def _cache(name: str, variable: str, folder: Path) -> Findings:
    unused = name == "PyCUDA" and ("PYCUDA_DISABLE_CACHE" in os.environ or not toolchain.installed("pycuda"))
    if unused or name == "driver":  # the driver works without its cache
        return
    cache, remedy = f"{name}'s cache", f"export {variable}=/tmp/{name.lower().replace(' ', '-')}-cache"
    there = folder
    try:
        while not there.exists():
            there = there.parent
        tempfile.TemporaryFile(dir=there).close()  # os.access grants root everything; this leaves nothing behind
    except OSError as problem:
        what = f"{folder} cannot be written, because of {there} ({problem.strerror})"
        yield Finding(cache, "error", what, remedy)
        return
    *_, system = toolchain.run("df", "--output=fstype", there).stdout.split() or ["unknown"]
    if system in NETWORK_FILE_SYSTEMS:
        what = f"{folder} is on a network file system ({system}): slow, and its locks may not hold"
        yield Finding(cache, "warning", what, remedy)
