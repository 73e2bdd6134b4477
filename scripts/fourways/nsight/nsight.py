"""Profiles of a call of one way with Nsight Compute, and the command of Nsight Systems for the same call.

`ncu` is called directly: `nsight-python` 1.1 needs ncu 2026.2.1 or later (CUDA 13.0 brings 2025.3.1), and its tables
hold only counters, no instructions and no source lines.
"""

import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fourways import files, kernels, lesson, measuring, toolchain
from fourways.case import Case
from fourways.nsight import report as reports
from fourways.nsight.report import Report, ReportError
from fourways.tables import Row
from fourways.ways import GPU_SIZE, WAYS, missing

CLOCKS = ("base", "none")
"""`base`: Nsight Compute holds the GPU at its base clock, for comparable times. `none`: the clock is left alone."""

PROBLEM = "problem.txt"
"""The file, in the folder of the kept sources, that says why the profiled process failed."""


class ProfilingError(RuntimeError):
    """A profile that failed; the message holds the failed program's error and what to do."""


class NoCountersError(ProfilingError):
    """A machine whose counters cannot be read, although it may have a GPU; the message is a line with the remedy."""


def profile(
    target: str,
    way: str = "nvrtc",
    size: int = GPU_SIZE,
    entry: str | None = None,
    clocks: str = "base",
    full: bool = False,
    keep: Path | None = None,
    case: Path | None = None,
) -> Report:
    """Profile a call of one way, with arrays of `size` elements, and return the report.

    `target` is a lesson's number or name, or a kernel file with its kernel `entry` and its `case` (`case.Case`). If a
    lesson launches several kernels, `entry` picks one. `clocks` is one of CLOCKS. `full` collects Nsight Compute's full
    set, for its window, in many more passes. `keep` is the .ncu-rep file to write.
    Raises InputError for an unknown target, way or kernel, NoCountersError if counters cannot be read, ProfilingError
    if the way or Nsight Compute fails, ReportError if the report cannot be read.
    """
    ncu = require_ncu(way)
    call = command(target, way, size, entry, case, source_lines=True)
    with TemporaryDirectory(prefix="fourways-") as folder:
        scratch = Path(folder)
        report, problem = scratch / "report.ncu-rep", scratch / PROBLEM
        words = [str(ncu), "--export", str(report), "--profile-from-start", "off", "--clock-control", clocks]
        words += ["--target-processes", "application-only"]  # not the compilers that it starts
        words += ["--set", "full"] if full else reports.options()
        words += ["--import-source", "1", "--source-folders", f"{scratch},{kernels.root() / 'cpp'}"]
        words += ["--kernel-name", entry.partition("<")[0]] if entry else []
        words += [*call, f"--sources={scratch}"]
        variables = toolchain.cold_caches(scratch) | {"CUPY_CACHE_SAVE_CUDA_SOURCE": "1"}
        both: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "errors": "replace"}
        done = subprocess.run(words, env=toolchain.child_environment() | variables, **both)
        if problem.is_file():
            advice = f"Nothing was profiled, because the way itself failed; `fourways check {target}` shows more."
            raise ProfilingError(f"{problem.read_text(encoding='utf-8')}\n{advice}")
        if not report.is_file():
            raise refused(done.stdout)
        told = reports.read(report)
        if keep:
            files.write_bytes(keep, report.read_bytes())
    return told


def require_ncu(way: str = "nvrtc") -> Path:
    """Return the program `ncu`.

    Raises NoCountersError if ncu or the package that reads reports is missing, ProfilingError if the way cannot run.
    """
    if reason := toolchain.missing("gpu") or (missing(way, of_case=True) if way in WAYS else None):
        raise ProfilingError(f"nothing to profile: {reason}")
    try:
        reports.require_package()
    except ReportError as error:
        raise NoCountersError(str(error)) from None
    if ncu := toolchain.program("ncu"):
        return ncu
    raise NoCountersError(
        "Nsight Compute (ncu) is not on this machine: it comes with the full CUDA toolkit, and alone from "
        "developer.nvidia.com/nsight-compute"
    )


def command(
    target: str, way: str, size: int, entry: str | None, case: Path | None = None, source_lines: bool = False
) -> list[str]:
    """Return the command line of the profiled process: it runs in stages (NVTX ranges), with one more call at the end.

    A module that is built ahead of time is built here. With `source_lines`, a lesson's module is built again with line
    numbers, although it may be installed. Raises InputError for an unknown target, way or kernel, before a long run.
    """
    meant = lesson.lesson_or_case(target, entry, case)
    binding = None
    if isinstance(meant, lesson.Lesson):
        lesson.way_cell(meant, way)
        binding = WAYS[way].prepare(str(meant.meta["kernel"])) if source_lines else None
    elif not toolchain.missing("gpu"):
        binding = WAYS[way].prepare(meant)  # built here, because a compiler under a profiler takes minutes
    words = [sys.executable, "-m", "fourways.nsight.nsight_process", target, way, f"--size={size}"]
    words += [f"--entry={entry}"] if entry else []
    words += [f"--case={case}"] if case else []
    return words + ([f"--binding={binding}"] if binding else [])


def refused(output: str) -> ProfilingError:
    """Return the error for a run of Nsight Compute without a report: missing rights, or the words of its output."""
    if "ERR_NVGPUCTRPERM" in output:
        return NoCountersError(
            "no right to read the GPU's counters (ERR_NVGPUCTRPERM): run as root, start a container with "
            "--cap-add=SYS_ADMIN, or set the driver's option NVreg_RestrictProfilingToAdminUsers=0 "
            "(developer.nvidia.com/ERR_NVGPUCTRPERM)"
        )
    told = [line.strip() for line in output.splitlines() if line.startswith(("==ERROR==", "==WARNING== No kernels"))]
    words = "\n".join(told or output.strip().splitlines()[-5:])
    return ProfilingError(f"Nsight Compute made no report:\n{words}\nDoes the call launch a kernel of that name?")


def by_events(target: str, way: str, size: int, entry: str | None = None, case: Path | None = None) -> Row:
    """Time the call by CUDA events, which need no rights, and return the row of `measuring.time_ways`."""
    meant = lesson.lesson_or_case(target, entry, case)
    ways = meant.ways([way]) if isinstance(meant, Case) else lesson.load(meant, [way])
    return measuring.time_ways(ways, [way], size)[0]


def nsys_command(
    target: str, way: str, size: int, output: Path, entry: str | None = None, case: Path | None = None
) -> list[str]:
    """Return the command line of Nsight Systems that records the same process to `output` (.nsys-rep)."""
    options = ["--trace=cuda,nvtx,osrt", "--force-overwrite=true", f"--output={output}"]
    return [str(toolchain.program("nsys") or "nsys"), "profile", *options, *command(target, way, size, entry, case)]


def run_nsys(words: list[str]) -> None:
    """Run the command line of `nsys_command`. Raises ProfilingError, with the remedy, if it cannot run."""
    if not toolchain.program("nsys"):
        raise ProfilingError("Nsight Systems (nsys) is not on this machine: developer.nvidia.com/nsight-systems has it")
    if reason := toolchain.missing("gpu"):
        raise ProfilingError(f"nothing to record: {reason}")
    done = subprocess.run(words, env=toolchain.child_environment())
    if done.returncode:
        raise ProfilingError(f"exit code {done.returncode} of: {shlex.join(words)}")
