"""Record, by CUPTI, what the GPU and the host do in a program; and sum it up.

CUPTI is CUDA's profiling library. The package `cupti-python` brings it, and it needs no special rights. It notes the
start and end of kernels, copies, CUDA API calls and NVTX ranges. Work on the GPU is measured by the GPU's clock, all
else by the host's. Recording has a price: every launch takes the host longer than without it.
"""

import functools
import itertools
import json
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fourways import fresh_process, kernels, toolchain
from fourways.tables import Column, Row, Table, summary

ON_GPU = ("kernel", "copy", "memset", "graph")  # kinds of rows: work on the GPU
_KINDS = {"CONCURRENT_KERNEL": "kernel", "MEMCPY": "copy", "MEMSET": "memset", "GRAPH_TRACE": "graph"}
_KINDS |= {"RUNTIME": "API call", "DRIVER": "API call", "SYNCHRONIZATION": "synchronization", "MARKER": "NVTX range"}
_COPIES = {"HTOD": "host to device", "DTOH": "device to host", "DTOD": "device to device", "HTOH": "host to host"}
_PROGRAM = "import sys\nfrom fourways import timeline\ntimeline.record_here(*sys.argv[1:])\n"


def record(program: fresh_process.Program, *arguments: str) -> list[Row]:
    """Record a program, a file or a text, with these arguments in a fresh process, and return the rows.

    Rows are in order of time. All have `kind` (kernel, copy, memset, graph, API call, synchronization, NVTX range, or
    stage: see `fresh_process`), `name`, `clock` (device or host), `start_seconds` from the first row's start, and
    `seconds`. Work on the GPU also has `stream`, copies and memsets have `bytes`, API calls have `thread`, and kernels
    have `grid`, `block`, `registers` and `symbol` (the name in the machine code, of which `name` is the readable part).
    The program must wait for the GPU before it ends. Raises RuntimeError if it fails or this machine cannot record.
    """
    if reason := toolchain.missing("gpu"):
        raise RuntimeError(f"no timeline: {reason}")
    if not toolchain.installed("cupti"):
        raise RuntimeError("no timeline: the package cupti-python is not installed: pip install cupti-python")
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        path = program if isinstance(program, Path) else Path(folder, "program.py")
        if isinstance(program, str):
            path.write_text(program, encoding="utf-8")
        try:
            variables = toolchain.child_environment()
            rows = fresh_process.answer(_PROGRAM, path.resolve(), *arguments, environment=variables)["rows"]
        except fresh_process.ProgramError as error:
            raise RuntimeError(f"{path.name}: {error}") from None
    if not gpu_work(rows):
        raise RuntimeError(f"{path.name}: CUPTI recorded no work on the GPU")
    return rows


def record_here(path: str, *arguments: str) -> None:
    """Run a program in this process while CUPTI records, and print the rows as JSON; `record` starts it."""
    recorder = _Recorder()  # before CuPy is imported
    sys.argv = [path, *arguments]
    sys.path.insert(0, str(Path(path).parent))
    names = vars(sys.modules["__main__"])
    names["__file__"] = path
    try:
        for stage, source in fresh_process.parts(Path(path).read_text(encoding="utf-8")):
            row: Row = {"kind": "stage", "name": stage, "start": recorder.cupti.get_timestamp()}
            recorder.recorded += [row] if stage else []
            exec(compile(source, path, "exec", dont_inherit=True), names)
            row["end"] = recorder.cupti.get_timestamp()
    except SystemExit as exit:
        if exit.code:
            raise
        row["end"] = recorder.cupti.get_timestamp()
    print("\n" + json.dumps({"rows": recorder.rows()}))


class _Recorder:
    def __init__(self) -> None:
        from cuda.pathfinder import load_nvidia_dynamic_lib
        from cupti import cupti

        self.cupti, self.recorded, self.problems = cupti, list[Row](), list[Exception]()
        # NVTX reads this variable at a process's first range; it must name the library that cupti-python uses
        os.environ["NVTX_INJECTION64_PATH"] = str(load_nvidia_dynamic_lib("cupti").abs_path)
        for kind in _KINDS:
            cupti.activity_enable(cupti.ActivityKind[kind])
        cupti.activity_register_callbacks(lambda: (8 * 2**20, 0), self._take)  # bytes of a buffer, as in its examples

    def _take(self, activities: list[Any]) -> None:
        try:
            self.recorded += [_described(activity, self.cupti) for activity in activities]
        except Exception as problem:  # would be lost in this callback, and so would rows
            self.problems.append(problem)

    def rows(self) -> list[Row]:
        """Return all recorded rows in order of time, in seconds from the first.

        The two records of an NVTX range become one row; a range that never ended is left out.
        """
        self.cupti.activity_flush_all(1)
        if self.problems:
            raise self.problems[0]
        ends = {row["id"]: row["end"] for row in self.recorded if "start" not in row}
        for row in self.recorded:
            row.setdefault("end", ends.get(row.pop("id", None)))
        whole = [row for row in self.recorded if "start" in row and row["end"] is not None]
        whole.sort(key=lambda row: (row["start"], -row["end"]))
        threads = list(dict.fromkeys(row["thread"] for row in whole if "thread" in row))
        first = whole[0]["start"] if whole else 0
        for row in whole:
            start, end = row.pop("start"), row.pop("end")
            row["clock"] = "device" if row["kind"] in ON_GPU else "host"
            row |= {"start_seconds": (start - first) / 1e9, "seconds": (end - start) / 1e9}
            row |= {"thread": threads.index(row["thread"])} if "thread" in row else {}
        return whole


def _described(activity: Any, cupti: Any) -> Row:
    """Return a record of CUPTI as a row, with `start` and `end` in ns. An NVTX range has a record for each of them."""
    cupti_kind = cupti.ActivityKind(activity.kind).name
    kind = _KINDS[cupti_kind]
    if kind == "NVTX range":
        if not activity.flags_ & cupti.ActivityFlag.MARKER_START:
            return {"kind": kind, "id": activity.id, "end": activity.timestamp}  # the end of a range, or a mark
        return {"kind": kind, "id": activity.id, "start": activity.timestamp, "name": activity.name}
    row: Row = {"kind": kind, "start": activity.start, "end": activity.end, "name": kind}
    row |= {"stream": activity.stream_id} if kind in ON_GPU else {}
    row |= {"bytes": activity.bytes} if kind in ("copy", "memset") else {}
    match kind:
        case "kernel":
            row |= {what: [getattr(activity, f"{what}_{axis}") for axis in "xyz"] for what in ("grid", "block")}
            row |= {"name": readable(activity.name), "symbol": activity.name}
            row["registers"] = activity.registers_per_thread
        case "API call":
            called = cupti.get_callback_name(cupti.CallbackDomain[f"{cupti_kind}_API"], activity.cbid)
            row |= {"name": re.sub(r"_v\d+$", "", called), "thread": activity.thread_id}  # `cuMemAlloc_v2`
        case "copy":
            direction = cupti.ActivityMemcpyKind(activity.copy_kind).name
            row["name"] = _COPIES.get(direction, direction)
        case "synchronization":
            row["name"] = cupti.ActivitySynchronizationType(activity.type).name.lower().replace("_", " ")
        case "graph":
            row["name"] = f"graph {activity.graph_id}"
    return row


@functools.cache
def readable(symbol: str) -> str:
    """Return a short name of a kernel, such as `cub::DeviceReduceKernel`, `saxpy<float>` or `doublify`.

    Parameters, long template arguments and inner namespaces are left out.
    """
    if (text := kernels.demangled(symbol)) == symbol:
        return symbol
    text = text.replace("(anonymous namespace)::", "")
    if short := re.fullmatch(r"(?:\S+ )?(\w+<[\w, ]{1,24}>)\(.*", text):
        return short[1]
    while (less := re.sub(r"<[^<>]*>", "", text)) != text:
        text = less
    parts = text.partition("(")[0].split(" ")[-1].split("::")
    return "::".join([parts[0], *parts[1:][-1:]])


def gpu_work(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of work on the GPU: kernels, copies, memsets, graphs."""
    return [row for row in rows if row["kind"] in ON_GPU]


def table(rows: Sequence[Row]) -> Table:
    """Return a row for each name of work on the GPU, the longest in total first, then one for the idle time between.

    `seconds` has median, p10 and p90 (of idle time: those of the gaps). `share` is the part of `of`; in the GPU's busy
    time, simultaneous work on several streams counts once.
    """

    def summed(kind: str, name: str, times: list[float], whole: float, of: str) -> Row:
        share = {"total_seconds": sum(times), "share": sum(times) / whole, "of": of}
        return {"kind": kind, "name": name, "clock": "device", "seconds": summary(times), **share}

    work, groups = gpu_work(rows), dict[tuple[str, str], list[float]]()
    busy = sum(until - start for start, until in _union(work))
    for row in work:
        groups.setdefault((row["kind"], row["name"]), []).append(row["seconds"])
    told = [summed(kind, name, times, busy, "busy time") for (kind, name), times in groups.items()]
    told.sort(key=lambda row: -row["total_seconds"])
    if waits := gaps(work):
        told.append(summed("idle", "between first and last work", waits, sum(waits) + busy, "that time"))
    columns: list[Column] = ["kind", "name", ("count", lambda row: str(row["seconds"]["samples"]))]
    columns += ["total_seconds", "seconds", ("share", lambda row: f"{row['share']:.1%} of {row['of']}")]
    return Table("timeline_summary", told, columns, "Device clock, by CUPTI.")


def gaps(work: Sequence[Row]) -> list[float]:
    """Return the seconds of each gap between one piece of work and the next."""
    return [start - until for (_, until), (start, _) in itertools.pairwise(_union(work))]


def _union(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Return the spans of rows, in order of time, joined if they overlap."""
    joined: list[tuple[float, float]] = []
    for row in rows:
        start, until = row["start_seconds"], row["start_seconds"] + row["seconds"]
        if joined and start <= joined[-1][1]:
            start, before = joined.pop()
            until = max(until, before)
        joined.append((start, until))
    return joined
