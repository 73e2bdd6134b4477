"""Profiles by Nsight Compute: the command that makes a report, and the report's metrics and source lines.

    report = profiling.ncu("analyse.py", kernel="colmeans")
    profiling.metrics(report)
    profiling.lines(report)

Making a report needs a GPU, Nsight Compute's `ncu`, and the right to read the GPU's counters. Reading one needs only
the package `ncu-report`. To use this file in a project of your own, copy it and `tables.py`.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

try:
    from fourways import tables
except ImportError:  # a copy in another project, with tables.py beside it
    import tables  # type: ignore[no-redef]

METRICS = {
    "gpu__time_duration.sum": "time of one launch; ncu empties the caches before it",
    "dram__bytes_read.sum": "bytes read from the GPU's memory (DRAM)",
    "dram__bytes_write.sum": "bytes written to it",
    "lts__t_sector_hit_rate.pct": "share of L2's sectors that were found there; writes nearly always are",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "32-byte sectors that loads from global memory touched",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "such loads, one a warp; 4 sectors for each are ideal for "
    "elements of 4 bytes, 32 are the worst",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "sectors that stores to global memory touched",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "such stores, one a warp",
    "memory_l1_wavefronts_shared": "rounds that accesses to shared memory took",
    "memory_l1_wavefronts_shared_ideal": "rounds without bank conflicts",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "achieved occupancy: warps in flight, of the most that fit",
    "launch__registers_per_thread": "registers; many of them limit the warps in flight",
    "smsp__inst_executed.sum": "instructions, counted once a warp",
}
"""The metrics that `ncu` collects and `metrics` shows by default: Nsight Compute's names, and what they mean.

Nsight Compute's *Profiling Guide* explains how the names are made (docs.nvidia.com/nsight-compute/ProfilingGuide).
"""

_SECTIONS = ("LaunchStats", "Occupancy", "SourceCounters")  # the last one has the counts of each instruction
_NO_RIGHT = (
    "no right to read the GPU's counters (ERR_NVGPUCTRPERM): run as root, start a container with --cap-add=SYS_ADMIN, "
    "or set the driver's option NVreg_RestrictProfilingToAdminUsers=0 (developer.nvidia.com/ERR_NVGPUCTRPERM)"
)


def ncu(
    program: Path | str,
    *arguments: str,
    report: Path | str = "",
    kernel: str = "",
    options: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
) -> Path:
    """Profile a Python program, print the command, and return the report's path.

    `report` is by default the program's name with the ending .ncu-rep; a file that is there is replaced. `kernel` picks
    the launches of one kernel. More `options` are ncu's: `("--set", "full")` for its window,
    `("--profile-from-start", "off")` if the program marks a part by `with cupyx.profiler.profile():`. For `lines`,
    compile the kernel with `-lineinfo`; CuPy, which compiles a copy and deletes it, is told to keep one for ncu. Raises
    FileNotFoundError without ncu, PermissionError without the right to read counters, RuntimeError with ncu's words if
    there is no report. `variables` are more environment variables for the program.
    """
    path = Path(report or Path(program).with_suffix(".ncu-rep"))
    words = [find_ncu(), "--force-overwrite", "--export", str(path), "--import-source", "1"]
    words += ["--target-processes", "application-only"]  # not the compilers that the program starts
    words += [word for section in _SECTIONS for word in ("--section", section)]
    words += ["--metrics", ",".join(name for name in METRICS if "__" in name)]  # a section brings the others
    words += ["--kernel-name", kernel] if kernel else []
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as cache:
        words += ["--source-folders", cache, *options, sys.executable, str(program), *arguments]
        kept = {"CUPY_CACHE_DIR": cache, "CUPY_CACHE_SAVE_CUDA_SOURCE": "1"}
        print(*(f"{name}={value}" for name, value in kept.items()), shlex.join(words))
        both: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "errors": "replace"}
        done = subprocess.run(words, env=os.environ | dict(variables or {}) | kept, **both)
    if "ERR_NVGPUCTRPERM" in done.stdout:
        raise PermissionError(_NO_RIGHT)
    if done.returncode or not path.is_file():
        raise RuntimeError(f"ncu made no report:\n{done.stdout.strip()}")
    return path


def metrics(report: Path | str, names: Sequence[str] = tuple(METRICS)) -> tables.Table:
    """Return the metrics of a report by ncu's own names, with value, unit and meaning, for each launch of a kernel.

    A metric that is not in `METRICS` has the report's description; one that the report lacks has the value None. Raises
    as `actions` does.
    """
    rows: list[tables.Row] = []
    for launch, action in enumerate(actions(report), 1):
        for name in names:
            row = {"launch": launch, "kernel": action.name(), "metric": name, "value": None, "unit": ""}
            if name in action:
                row |= {"value": action[name].as_double(), "unit": action[name].unit() or ""}
            meaning = METRICS.get(name) or (action[name].description() if name in action else "")
            rows.append(row | {"meaning": meaning.partition("\n")[0]})
    columns: list[tables.Column] = ["metric", ("value", _value), "unit", "meaning"]
    return tables.Table("metrics", rows, [*_launch(rows), *columns])


def lines(report: Path | str, count: int = 8) -> tables.Table:
    """Return the `count` source lines of each launch that have most samples.

    ncu notes at regular intervals where a warp stands: a line with many samples is where warps spend their time.
    `samples` and `instructions` (executed, counted once a warp) are numbers of the line, and `source` is its text, or
    empty if the report lacks it. A kernel compiled without `-lineinfo` has no lines. Raises as `actions` does.
    """
    rows: list[tables.Row] = []
    for launch, action in enumerate(actions(report), 1):
        texts = {name: text.splitlines() for name, text in action.source_files().items()}
        found: dict[tuple[str, int], tables.Row] = {}
        for key, counter in (("samples", "smsp__pcsamp_sample_count"), ("instructions", "inst_executed")):
            for address, number in _by_address(action, counter):
                info = action.source_info(address)
                if not info or not info.line():
                    continue
                file, line = info.file_name(), info.line()
                text = "".join(texts.get(file, [])[line - 1 : line]).strip()
                blank = {"file": Path(file).name, "line": line, "samples": 0, "instructions": 0, "source": text}
                row = found.setdefault((file, line), {"launch": launch, "kernel": action.name()} | blank)
                row[key] += number
        rows += sorted(found.values(), key=lambda row: (-row["samples"], row["line"]))[:count]
    columns: list[tables.Column] = ["file", "line", "samples", "instructions", "source"]
    note = "" if rows else "No lines: the kernel was compiled without -lineinfo."
    return tables.Table("lines", rows, [*_launch(rows), *columns], note)


def actions(report: Path | str) -> list[Any]:
    """Return the launches in a report, as `ncu_report.IAction`.

    Raises ImportError without the package ncu-report, FileNotFoundError, and ValueError for a file without a launch.
    """
    try:
        import ncu_report
    except ImportError:
        raise ImportError("the package that reads reports is not installed: pip install ncu-report") from None
    if not Path(report).is_file():
        raise FileNotFoundError(f"no file {report}")
    ranges = ncu_report.load_report(str(report))
    if found := [each[number] for each in ranges for number in range(each.num_actions())]:
        return found
    raise ValueError(f"{report} holds no launch: it is not a report of Nsight Compute, or no kernel was profiled")


def _by_address(action: Any, counter: str) -> Iterator[tuple[int, int]]:
    """Yield the address of each instruction with its value of a counter."""
    if counter in action and action[counter].has_correlation_ids():
        metric, addresses = action[counter], action[counter].correlation_ids()
        for number in range(metric.num_instances()):
            yield addresses.as_uint64(number), metric.as_uint64(number)


def _value(row: tables.Row) -> str:
    value = row["value"]
    if value is None:
        return "not in this report"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _launch(rows: Sequence[tables.Row]) -> list[tables.Column]:
    several = len({row["launch"] for row in rows}) > 1
    return [("launch", lambda row: f"{row['launch']}: {row['kernel']}")] if several else []


def find_ncu() -> str:
    """Return ncu's path: on PATH, in the toolkit, or where NVIDIA's package of Nsight Compute puts it."""
    packaged = sorted(map(str, Path("/opt/nvidia/nsight-compute").glob("*/ncu")))
    found = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin") or next(reversed(packaged), None)
    if found is None:
        raise FileNotFoundError("no ncu here: the CUDA toolkit has it, and developer.nvidia.com/nsight-compute")
    return found
