"""Profiles one call of one way with Nsight Compute, and reads the report that it leaves; `--nsys` for Nsight Systems.

`ncu` is called directly: `nsight-python` 1.1 wants ncu 2026.2.1 or later (CUDA 13.0 brings 2025.3.1), and its tables
hold metrics alone, no instructions and no source lines.

Source lines of a kernel that is compiled at run time need three things: `-lineinfo`, the temporary file that CuPy or
PyCUDA compiled and deletes, and `--import-source`, which copies the text into the report once the process has ended.
`fourways._profile_process` sees to the first two, the lesson's own code unchanged.
"""

import hashlib
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fourways import counters, files, kernels, lesson, toolchain
from fourways._profile_process import PROBLEM, load
from fourways.counters import Report
from fourways.first_result import build_binding
from fourways.tables import Row
from fourways.timing import GPU_SIZE, time_way

CLOCKS = ("base", "none")
"""`base`: Nsight Compute holds the GPU at its base clock, for comparable figures. `none`: the clock runs as it does."""


class ProfilingError(RuntimeError):
    """Nothing was profiled; the message says why, in the failed program's own words, and what to do."""


class NoCountersError(ProfilingError):
    """This machine does not let us read counters, though it may have a GPU; the message is one line with the remedy."""


def find(name: str) -> Path | None:
    """The program `ncu` or `nsys`: of the toolkits, of PATH, or of NVIDIA's own packages in /opt; or None."""
    patterns = {"ncu": "nsight-compute/*/ncu", "nsys": "nsight-systems/*/bin/nsys"}
    return toolchain.program(name) or max(Path("/opt/nvidia").glob(patterns[name]), default=None)


def profile(
    target: str,
    way: str = "nvrtc",
    size: int = GPU_SIZE,
    entry: str | None = None,
    clocks: str = "base",
    full: bool = False,
    keep: Path | None = None,
) -> Report:
    """Profile one call of one way, with arrays of `size` elements, and return what the report says.

    `target` is a lesson's number or name, or a kernel file as `own_kernel.ways` takes it, with its kernel `entry`; of a
    lesson that launches several kernels, `entry` picks one. `clocks` is one of CLOCKS. `full` collects all that Nsight
    Compute can, for its own window, in many more passes. `keep` is the .ncu-rep file to write, whole or not at all.
    Raises NoCountersError where counters cannot be read, ProfilingError where the way or Nsight Compute fails,
    LessonError for another target, ReportError where reports cannot be read.
    """
    lesson.kernel_file(target)
    ncu = require_ncu(way)
    with TemporaryDirectory(prefix="fourways-") as folder:
        scratch = Path(folder)
        caches = {name: str(scratch / name) for name in ("CUPY_CACHE_DIR", "PYCUDA_CACHE_DIR")}
        for cache in caches.values():
            Path(cache).mkdir()
        words = [*ncu_options(ncu, scratch, entry, clocks, full), *command(target, way, size, entry)]
        if way == "pybind11":  # built here: a compiler that runs under ncu takes minutes
            words.append(f"--binding={binding_with_lines(target)}")
        done = subprocess.run(
            [*words, f"--sources={scratch}"],
            env=lesson.process_environment() | caches | {"CUPY_CACHE_SAVE_CUDA_SOURCE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        report = scratch / "report.ncu-rep"
        if not report.is_file() or (scratch / PROBLEM).is_file():
            raise refused(done.stdout, target, scratch / PROBLEM)
        found = counters.read(report)
        if keep:
            files.write_bytes(keep, report.read_bytes())
    return found


def binding_with_lines(target: str) -> Path:
    """The folder of a pybind11 module with line information for a lesson's kernel, built once into our cache."""
    kernel = str(lesson.find(target).meta["kernel"])
    digest = hashlib.sha256(f"{kernels.root()} {sys.executable}".encode()).hexdigest()[:12]
    folder = files.cache_dir() / "lineinfo" / f"{kernel}-{digest}"
    build_binding(kernel, folder, options=["-DCMAKE_CUDA_FLAGS=-lineinfo"])
    return folder


def require_ncu(way: str = "nvrtc") -> Path:
    """The program `ncu`, where a way can be profiled with it and the report be read.

    Raises NoCountersError where ncu or the package that reads is missing, ProfilingError where the way cannot run.
    """
    if reason := toolchain.missing("gpu") or toolchain.missing(way):
        raise ProfilingError(f"nothing to profile: {reason}")
    try:
        counters.require_package()
    except counters.ReportError as error:
        raise NoCountersError(str(error)) from None
    if ncu := find("ncu"):
        return ncu
    raise NoCountersError(
        "Nsight Compute (ncu) is not on this machine: it comes with the full CUDA toolkit, and alone from "
        "developer.nvidia.com/nsight-compute"
    )


def ncu_options(ncu: Path, folder: Path, entry: str | None, clocks: str, full: bool) -> list[str]:
    """Nsight Compute's own part of the command line, up to the program that it runs."""
    return [
        *(str(ncu), "--force-overwrite", "--export", str(folder / "report")),
        *("--profile-from-start", "off", "--clock-control", clocks),
        *("--target-processes", "application-only"),  # not the compilers that it starts
        *(["--set", "full"] if full else counters.options()),
        *("--import-source", "1", "--source-folders", f"{folder},{kernels.root() / 'cpp'}"),
        *(["--kernel-name", entry] if entry else []),
    ]


def command(target: str, way: str, size: int = GPU_SIZE, entry: str | None = None) -> list[str]:
    """The command line of the process that a profiler looks at: stages as NVTX ranges, one call at the end."""
    words = [sys.executable, "-m", "fourways._profile_process", target, way, f"--size={size}"]
    return words + ([f"--entry={entry}"] if entry else [])


def refused(output: str, target: str = "", problem: Path | None = None) -> ProfilingError:
    """Why there is no report: the way's own failure (as `problem` holds it), missing rights, or what ncu printed."""
    if problem and problem.is_file():
        advice = "Nothing was profiled, because the way itself failed; "
        return ProfilingError(f"{problem.read_text(encoding='utf-8')}\n{advice}`fourways check {target}` shows more.")
    if "ERR_NVGPUCTRPERM" in output:
        return NoCountersError(
            "no right to read the GPU's counters (ERR_NVGPUCTRPERM): run as root, start a container with "
            "--cap-add=SYS_ADMIN, or set the driver's option NVreg_RestrictProfilingToAdminUsers=0 "
            "(developer.nvidia.com/ERR_NVGPUCTRPERM)"
        )
    told = [line.strip() for line in output.splitlines() if line.startswith(("==ERROR==", "==WARNING== No kernels"))]
    words = "\n".join(told or output.strip().splitlines()[-5:])
    return ProfilingError(f"Nsight Compute made no report:\n{words}\nDoes the call launch a kernel of that name?")


def anonymous(report: bytes) -> bytes:
    """A report's bytes without this machine's folders, host name and addresses, so that it can be given away.

    Nsight Compute has no option for that: it notes its command line, the host and the host's addresses. What takes
    their place is as long as they are, so that nothing else in the file moves. Programs of the system keep their paths.
    """
    outside = [(Path(sys.prefix), "/venv")] if sys.prefix != sys.base_prefix else []
    for place, instead in ((kernels.root(), "/four-ways"), *outside, (Path.home(), "/home")):
        if len(place.parts) > 1:  # not the home folder / of some containers
            name = str(place).encode()
            report = re.sub(re.escape(name) + rb"(?![\w-])", _as_long(instead, name), report)
    host = socket.gethostname().encode()
    field, following = b"*" + bytes([len(host)]), b"0"  # tags of the file format, which is that of Protocol Buffers
    report = report.replace(field + host + following, field + _as_long("host", host) + following)
    address = rb"(?<=:[\x00-\x7f]\n[\x00-\x7f])[\da-f]*[:.][\da-f:.]+(?:%[\w.-]+)?(?=\x10)"
    return re.sub(address, lambda found: _as_long("address", found[0]), report)


def _as_long(instead: str, name: bytes) -> bytes:
    return instead.encode().ljust(len(name), b"_")[: len(name)]


def by_events(target: str, way: str, size: int, entry: str | None = None) -> Row:
    """The row of `timing.time_way`, by CUDA events, which need no rights: what is left without counters."""
    return time_way(load(target, way, entry), way, size)


def nsys_command(target: str, way: str, size: int, output: Path, entry: str | None = None) -> list[str]:
    """The Nsight Systems command line that records a timeline of the same process to `output` (.nsys-rep)."""
    options = ["--trace=cuda,nvtx,osrt", "--force-overwrite=true", f"--output={output}"]
    return [str(find("nsys") or "nsys"), "profile", *options, *command(target, way, size, entry)]


def run_nsys(words: list[str]) -> None:
    """Run that command line in the right environment. Raises ProfilingError with the remedy where it cannot run."""
    if not find("nsys"):
        raise ProfilingError("Nsight Systems (nsys) is not on this machine: developer.nvidia.com/nsight-systems has it")
    if reason := toolchain.missing("gpu"):
        raise ProfilingError(f"nothing to record: {reason}")
    done = subprocess.run(words, env=lesson.process_environment())
    if done.returncode:
        raise ProfilingError(f"exit code {done.returncode} of: {shlex.join(words)}")
