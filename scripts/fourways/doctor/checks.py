"""Checks whether the tools of this machine work together. Each finding comes with its remedy."""

import csv
import importlib.metadata
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fourways import files, kernels, toolchain
from fourways.doctor import inventory
from fourways.doctor.inventory import Tool
from fourways.toolchain import SETUP, Driver, Gpu, version

NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "beegfs", "ceph", "afs", "fuse.sshfs"}
LESSON_MACHINE = ("cupy", "numpy", "jupytext", "nbclient", "ipykernel", "matplotlib")
WITHOUT_GPU = (
    "compiling with NVRTC and nvcc, reading SASS, building the pybind11 module, the host way, the book and every "
    "lesson cell that needs no GPU"
)
_NO_COMPILER = "no C++ compiler found, which the host way and nvcc need: on Debian and Ubuntu, apt install g++"
UPDATE_DRIVER = "update the NVIDIA driver, or take a toolkit no newer than it (`nvidia-smi` prints its CUDA version)"


@dataclass(frozen=True)
class Finding:
    """One result of a check: `level` is ok, note, warning (a way does not work) or error (a lesson cannot run)."""

    level: str
    what: str
    remedy: str = ""


def judge(tools: dict[str, Tool], driver: Driver | None, gpus: list[Gpu]) -> list[Finding]:
    """Return the findings of all checks for these tools (`inventory.tools`), this driver and these GPUs."""
    return [
        *judge_gpu(driver, gpus),
        *judge_clone(),
        *judge_lesson_machine(),
        *judge_files(),
        *judge_compilers(tools),
        *judge_host_compiler(tools),
        *judge_driver(tools, driver),
        *judge_nvrtc(tools, gpus),
        *judge_linker(tools, driver),
        *judge_pycuda(tools, driver),
        *judge_binding(tools, gpus),
        *judge_packages(driver),
        *(finding for name, place in toolchain.caches().items() for finding in judge_cache(name, *place)),
    ]


def judge_gpu(driver: Driver | None, gpus: list[Gpu]) -> Iterator[Finding]:
    if gpus:
        yield Finding("ok", "GPU: " + ", ".join(f"{gpu.name} ({gpu.arch})" for gpu in gpus))
    elif driver is None:
        yield Finding("note", f"no NVIDIA driver, so no GPU. What works without: {WITHOUT_GPU}")
    else:
        problem = toolchain.missing("gpu")
        yield Finding("warning", f"{problem}. What works without: {WITHOUT_GPU}", "nvidia-smi")


def judge_clone() -> Iterator[Finding]:
    try:
        lessons = kernels.root() / "lessons"
        if not list(lessons.glob("[0-9][0-9]_*.md")):
            what = f"no lessons in {lessons}"
            yield Finding("error", what, "git checkout -- lessons (in the clone), or clone Four Ways again")
    except FileNotFoundError as problem:
        what, _, remedy = str(problem).partition(": ")
        yield Finding("error", what, remedy)


def judge_lesson_machine() -> Iterator[Finding]:
    lacking = [module for module in LESSON_MACHINE if not toolchain.installed(module)]
    if lacking:
        yield Finding("error", f"no lesson can run without: {', '.join(lacking)}", SETUP)
    both = list(toolchain.distributions(*toolchain.CUPY))
    if len(both) > 1:
        remedy = f"pip uninstall {' '.join(both)}; {SETUP}"
        yield Finding("error", f"{' and '.join(both)} overwrite each other's files", remedy)


def judge_files() -> Iterator[Finding]:
    """Look for the files that the installed packages list: after an interrupted installation, some are missing."""
    own = Path(sys.prefix).name == ".venv"
    damaged = {}
    for package in importlib.metadata.distributions():
        rows = csv.reader((package.read_text("RECORD") or "").splitlines())
        absent = [
            row[0]
            for row in rows
            if row and not row[0].endswith(".pyc") and not Path(str(package.locate_file(row[0]))).exists()
        ]
        if absent:
            damaged[package.name] = len(absent)
    for name, count in damaged.items():
        remedy = f"rm -rf .venv; {SETUP}" if own else f"pip install --force-reinstall --no-deps {name}"
        yield Finding("error" if own else "warning", f"the package {name} lacks {count} of its files", remedy)


def judge_compilers(tools: dict[str, Tool]) -> Iterator[Finding]:
    nvcc = tools["nvcc"]
    if nvcc.path is None:
        yield Finding("error", "no nvcc found: no kernel can be compiled ahead of time", SETUP)
        return
    if nvcc.version is None:
        yield Finding("error", f"{nvcc.path} does not run: it prints no version", f"{nvcc.path} --version")
    chosen = os.environ.get("NVCC")
    if chosen and Path(chosen) != nvcc.path:
        yield Finding("note", f"NVCC={chosen} is set, but lessons take {nvcc.path}", "unset NVCC")
    for name in ("cuobjdump", "nvdisasm", "cmake", "ninja"):
        if tools[name].path is None:
            yield Finding("warning", f"no {name} found", SETUP)


def judge_host_compiler(tools: dict[str, Tool]) -> Iterator[Finding]:
    host, headers = tools["host compiler"], tools["CUDA headers"]
    if host.path is None:
        what, _, remedy = (host.why if "CXX" in host.why else _NO_COMPILER).partition(": ")
        yield Finding("error", what, remedy)
        return
    name = f"{host.path} ({host.version})"
    probe = "#include <barrier>\nstd::barrier<> meeting(1);\n"
    if toolchain.run(str(host.path), "-std=c++20", "-fsyntax-only", "-xc++", "-", stdin=probe).returncode:
        yield Finding("error", f"{name} cannot compile C++20 with <barrier>", "install g++ 11 or newer; set CXX to it")
    kind, command = ("clang", "clang++") if "clang" in host.path.resolve().name else ("gcc", "g++")
    newest = inventory.newest_host_compiler(headers.path, kind)
    if newest and version(host.version).major > newest:
        what = f"{name} is too new for this nvcc, which takes up to version {newest}"
        yield Finding("warning", what, f"install {command}-{newest} and set CXX={command}-{newest}")


def judge_driver(tools: dict[str, Tool], driver: Driver | None) -> Iterator[Finding]:
    """Compare nvcc and NVRTC with the driver.

    Source: docs.nvidia.com/deploy/cuda-compatibility, "Minor Version Compatibility".
    """
    for name in ("nvcc", "NVRTC"):
        tool = tools[name]
        if driver is None or tool.version is None:
            continue
        ours, theirs = version(tool.version), version(driver.cuda)
        pair = f"{name} {tool.version} and the driver (CUDA {driver.cuda})"
        if ours.major > theirs.major:
            yield Finding("error", f"{pair}: the driver is too old to run anything of CUDA {ours.major}", UPDATE_DRIVER)
        elif ours > theirs:
            what = f"{pair}: machine code runs, but this driver cannot compile the newer toolkit's PTX"
            yield Finding("warning", f"{what} (CUDA_ERROR_UNSUPPORTED_PTX_VERSION)", UPDATE_DRIVER)
        else:
            yield Finding("ok", f"{pair} fit")


def judge_nvrtc(tools: dict[str, Tool], gpus: list[Gpu]) -> Iterator[Finding]:
    nvrtc, headers = tools["NVRTC"], tools["CUDA headers"]
    if nvrtc.path is None:
        yield Finding("error", "no NVRTC found: nothing can be compiled just in time", SETUP)
        return
    if headers.path is None:
        yield Finding("error", "no CUDA headers found: kernels that include one cannot be compiled", SETUP)
    elif inventory.origin(headers.path) != inventory.origin(nvrtc.path):
        alike = version(headers.version) == version(nvrtc.version)
        what = f"NVRTC {nvrtc.version} is from {inventory.origin(nvrtc.path)}, the CUDA headers {headers.version} from"
        what += f" {inventory.origin(headers.path)}" + ("; the versions agree" if alike else ", another version")
        yield Finding("note" if alike else "warning", what, "" if alike else SETUP)
    else:
        yield Finding("ok", f"NVRTC {nvrtc.version} and the CUDA headers {headers.version} are of one origin")
    for wheel in toolchain.distributions(*toolchain.CUPY):
        if nvrtc.version and wheel not in ("cupy", f"cupy-cuda{version(nvrtc.version).major}x"):
            yield Finding("error", f"{wheel} does not go with the NVRTC {nvrtc.version} that it loads", SETUP)
    known = inventory.nvrtc_architectures(nvrtc.path)
    for gpu in gpus:
        if known and int(gpu.arch.removeprefix("sm_")) not in known:
            span = f"sm_{min(known)} to sm_{max(known)}"
            what = f"NVRTC {nvrtc.version} does not compile for {gpu.name} ({gpu.arch}); it knows {span}"
            yield Finding("error", what, "take the CUDA toolkit that names this GPU's architecture")


def judge_linker(tools: dict[str, Tool], driver: Driver | None) -> Iterator[Finding]:
    """Compare nvJitLink with the compilers that make its LTO-IR, and with the driver that runs its output.

    Source: NVIDIA, "nvJitLink", section "Compatibility", docs.nvidia.com/cuda/nvjitlink; for PTX as `judge_driver`.
    """
    linker = tools["nvJitLink"]
    if linker.path is None:
        yield Finding("warning", "no nvJitLink found: nothing can be linked at run time", SETUP)
        return
    ours = version(linker.version)
    for name in ("NVRTC", "nvcc"):
        tool = tools[name]
        if tool.version is None:
            continue
        made, pair = version(tool.version), f"{name} {tool.version} and nvJitLink {linker.version}"
        if made > ours:
            what = f"{pair}: a linker takes LTO-IR of its own version or older, so LTO links fail"
            yield Finding("warning", what, f"install an nvidia-nvjitlink as new as the compiler: {SETUP}")
        elif made.major != ours.major:
            what = f"{pair}: a linker takes LTO-IR of its own major version alone, so LTO links fail"
            yield Finding("warning", what, f"install an nvidia-nvjitlink of CUDA {made.major}: {SETUP}")
        else:
            yield Finding("ok", f"{pair} can link with LTO")
    if driver and ours > version(driver.cuda):
        pair = f"nvJitLink {linker.version} and the driver (CUDA {driver.cuda})"
        if ours.major > version(driver.cuda).major:
            yield Finding("warning", f"{pair}: the driver is too old to run what it links", UPDATE_DRIVER)
        else:
            what = f"{pair}: machine code that it links runs, but PTX that it writes is too new for this driver"
            yield Finding("note", what, "link to machine code (a cubin), as the lessons do")


def judge_pycuda(tools: dict[str, Tool], driver: Driver | None) -> Iterator[Finding]:
    """Check PyCUDA. Without a driver PyCUDA cannot be imported, and that is no problem."""
    if driver is None:
        return
    remedy = "fourways install-pycuda"
    if tools["PyCUDA"].path is None:
        yield Finding("warning", "PyCUDA is not installed: its way is skipped", remedy)
        return
    built, problem = inventory.pycuda_built_against()
    if built is None:
        yield Finding("warning", f"PyCUDA cannot be imported: {problem}", remedy)
    elif (nvcc := tools["nvcc"].version) and not (
        version(nvcc).major == version(built).major <= version(driver.cuda).major
    ):
        what = f"PyCUDA is built against CUDA {built}; nvcc is {nvcc}, the driver's CUDA {driver.cuda}"
        yield Finding("warning", what, remedy)


def judge_binding(tools: dict[str, Tool], gpus: list[Gpu]) -> Iterator[Finding]:
    binding = tools["fourways_aot"]
    if binding.path is None:
        yield Finding("warning", "the pybind11 module fourways_aot is not built: its way is skipped", SETUP)
        return
    holds = inventory.binding_architectures(binding.path)
    for gpu in gpus:
        if holds and not toolchain.runs_on(holds, gpu.arch):
            what = f"fourways_aot holds code for {', '.join(sorted(holds))}; none runs on {gpu.name} ({gpu.arch})"
            yield Finding("warning", what, "build it on this machine: rm -rf build .venv/.ready*; make setup")


def judge_packages(driver: Driver | None) -> Iterator[Finding]:
    """List the installed packages of `toolchain.PACKAGES`, and for each missing one the reason shown in lessons."""
    wanted = [module for module in toolchain.PACKAGES if driver or module not in toolchain.MORE]
    lacking = {module: reason for module in wanted if (reason := toolchain.missing(module))}
    if here := [module for module in wanted if module not in lacking]:
        yield Finding("ok", f"what some lessons use: {', '.join(here)}")
    for reason in lacking.values():
        what, _, remedy = reason.partition(": ")
        yield Finding("note", f"{what}: cells that need it are skipped", remedy)


def judge_cache(name: str, variable: str, folder: Path) -> Iterator[Finding]:
    unused = name == "PyCUDA" and ("PYCUDA_DISABLE_CACHE" in os.environ or not toolchain.installed("pycuda"))
    if unused or name == "driver":  # the driver works without its cache
        return
    remedy = f"export {variable}=/tmp/{name.lower().replace(' ', '-')}-cache"
    there = folder
    try:
        while not there.exists():
            there = there.parent
        tempfile.TemporaryFile(dir=there).close()  # os.access grants root everything; this leaves nothing behind
    except OSError as problem:
        what = f"{name}'s cache {folder} cannot be written, because of {there} ({problem.strerror})"
        yield Finding("error", what, remedy)
        return
    if name == "Four Ways":
        held = sum(size for _, size, _ in files.cache_entries())
        what = f"{name}'s cache {folder} holds {held / 2**20:.0f} MiB; at {files.CACHE_BYTES / 2**20:.0f} the oldest go"
        yield Finding("ok", what, f"to empty it: rm -rf {folder}")
    *_, system = toolchain.run("df", "--output=fstype", str(there)).stdout.split() or ["unknown"]
    if system in NETWORK_FILE_SYSTEMS:
        what = f"{name}'s cache {folder} is on a network file system ({system}): slow, and its locks may not hold"
        yield Finding("warning", what, remedy)
