"""Profiles of the slow program by Nsight Compute, and what their reports say."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fourways import kernels, profiling, toolchain
from fourways.experiments.slow_program import report_tables
from fourways.experiments.slow_program.counters import Report, options, read
from fourways.experiments.slow_program.program import FORMS, Analysis, folder, written
from fourways.tables import Table

_ONE_KERNEL = r'''"""One launch of iterate."""
import sys

from cupyx.profiler import profile

from fourways.experiments import slow_program

steps, size = map(int, sys.argv[1:])
launch = slow_program.iterated({text!r}, steps, size)
launch()  # warm-up
with profile():
    launch()
'''
_PLAIN = """
import cupy
from fourways import kernels
cupy.RawModule(code=kernels.source("colmeans"), options=("-lineinfo",)).compile()
"""


def profile(analysis: Analysis, count: int) -> None:
    """Profile the three FORMS of colmeans in one run of Nsight Compute, and keep the report; print what was run."""
    _profiled("colmeans", written(analysis), [str(count), *FORMS])


def profile_iterate(text: str, steps: int, size: int) -> None:
    """Profile one launch of the kernel `iterate` of a text by Nsight Compute, and keep the report; see `iterated`."""
    program = folder() / "iterate.py"
    program.write_text(_ONE_KERNEL.format(text=text), encoding="utf-8")
    _profiled("iterate", program, [str(steps), str(size)])


def _profiled(kernel: str, program: Path, arguments: Sequence[str]) -> None:
    report = folder() / f"{kernel}.ncu-rep"
    report.unlink(missing_ok=True)
    chosen = [
        *("--export", str(report), "--force-overwrite"),
        *("--kernel-name", f"regex:^{kernel}$"),  # no other kernel
        *("--profile-from-start", "off"),  # only what stands under `profile()`
        *("--target-processes", "application-only"),  # not the programs that it starts
        *("--clock-control", "none"),  # leave the GPU's clock as it is
        *("--import-source", "1"),  # put the source into the report
    ]
    if reason := toolchain.missing("gpu"):
        print(f"nothing to profile: {reason}")
        return
    try:
        words = [profiling.find_ncu(), *chosen, *options(), sys.executable, str(program), *arguments]
        done = subprocess.run(words, capture_output=True, text=True, env=toolchain.child_environment())
        if not report.is_file():
            raise profiling.refused(done.stdout + done.stderr)
    except (OSError, RuntimeError) as error:
        print(error)
        return
    print("ncu …", shlex.join(["python", program.name, *arguments]))
    print(f"{report.name}: {report.stat().st_size / 1e6:.1f} MB")


def report(kernel: str = "colmeans") -> Report:
    """Return the report of `profile` or `profile_iterate`: this machine's, else that of the recorded run.

    Prints why, and returns an empty report, if there is none or if it cannot be read.
    """
    name = f"{kernel}.ncu-rep"
    places = (folder() / name, kernels.root() / "book" / "figures" / name)
    try:
        return read(next(filter(Path.is_file, places), places[0]))
    except (OSError, ValueError, ImportError) as error:
        print(error)
        return Report([], [])


def metrics(told: Report, launch: int, names: Sequence[str]) -> Table | None:
    """Show the metrics of one launch in a report whose names are asked for; None if the report lacks the launch."""
    rows = [row for row in told.metrics if row["launch"] == launch and row["metric"] in names]
    return report_tables.table(rows) if rows else None


def lines(told: Report, launch: int, count: int = 3) -> Table | None:
    """Show the source lines of one launch with most samples; None if the report lacks the launch."""
    rows = [row for row in told.lines if row["launch"] == launch]
    return report_tables.lines_table(rows[:count]) if rows else None


def roofline(*told: Report) -> Any:
    """Draw the launches of the reports of colmeans and iterate below the roofs of their GPU; None without launches."""
    forms = ("as found", "coalesced", "repaired")
    rows = [row for report in told for row in report.metrics if row["metric"] == "roofline"]
    named = [
        row | {"launch": number, "kernel": forms[row["launch"] - 1] if row["kernel"] == "colmeans" else row["kernel"]}
        for number, row in enumerate(rows, 1)
    ]
    return report_tables.figure(named, "Launches below their roofs") if named else None


def dram(told: Report) -> None:
    """Print the bytes that the first two launches of a report moved from and to DRAM."""
    for launch, name in enumerate(("as found", "coalesced"), 1):
        if rows := {row["metric"]: row for row in told.metrics if row["launch"] == launch}:
            moved = rows["dram"]["bytes_per_second"] * rows["duration"]["seconds"]
            print(f"{name:12}: {moved / 1e9:.2f} GB from and to DRAM")


def named_source() -> None:
    """Print the file that the line information names if CuPy compiles a kernel without `#line`, and where it is kept.

    CuPy compiles in a fresh process with a new cache, and `CUPY_CACHE_SAVE_CUDA_SOURCE=1`.
    """
    cache, code = folder() / "cache", folder() / "colmeans.cubin"
    shutil.rmtree(cache, ignore_errors=True)
    saving = {"CUPY_CACHE_DIR": str(cache), "CUPY_CACHE_SAVE_CUDA_SOURCE": "1"}
    environment = toolchain.child_environment() | saving
    subprocess.run([sys.executable, "-c", _PLAIN], env=environment, check=True)
    (cached,) = cache.glob("*.cubin")
    content = cached.read_bytes()
    # CuPy puts a checksum before the machine code, and leaves out its last byte, a zero
    code.write_bytes(content[content.index(b"\x7fELF") :] + b"\0")
    listing = toolchain.run(str(toolchain.program("nvdisasm")), "-g", "-c", str(code)).stdout
    (name,) = set(re.findall(r'## File "([^"]+)"', listing))
    short = re.sub(r"[0-9a-f]{20,}", "HASH", name)
    print(f"named: {short}, which is {'there' if Path(name).exists() else 'gone'}")
    print(f"in the cache, of the same name: {'yes' if (cache / Path(name).name).exists() else 'no'}")
