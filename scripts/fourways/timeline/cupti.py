"""CUPTI's activity records of this process as rows: kernels, copies, CUDA API calls, NVTX ranges."""

import functools
import os
import re
from typing import Any

from fourways import kernels
from fourways.tables import Row
from fourways.timeline.trace import ON_GPU

KINDS = {
    "CONCURRENT_KERNEL": "kernel",
    "MEMCPY": "copy",
    "MEMSET": "memset",
    "GRAPH_TRACE": "graph",
    "RUNTIME": "API call",
    "DRIVER": "API call",
    "SYNCHRONIZATION": "synchronization",
    "MARKER": "NVTX range",
}
"""The kinds of a timeline's rows, by CUPTI's kind of activity."""

_BUFFER_BYTES = 8 * 2**20  # as in CUPTI's examples
_COPIES = {"HTOD": "host to device", "DTOH": "device to host", "DTOD": "device to device", "HTOH": "host to host"}


class Recorder:
    """A recorder of CUPTI's activities, from its creation on. Create it before you import CuPy or PyCUDA."""

    def __init__(self) -> None:
        from cuda.pathfinder import load_nvidia_dynamic_lib
        from cupti import cupti

        self.cupti, self.recorded, self.problems = cupti, list[Row](), list[Exception]()
        # NVTX reads this variable at a process's first range; it must name the library that cupti-python uses
        os.environ["NVTX_INJECTION64_PATH"] = str(load_nvidia_dynamic_lib("cupti").abs_path)
        for kind in KINDS:
            cupti.activity_enable(cupti.ActivityKind[kind])
        cupti.activity_register_callbacks(lambda: (_BUFFER_BYTES, 0), self._take)

    def _take(self, activities: list[Any]) -> None:
        try:
            self.recorded += [describe(activity, self.cupti) for activity in activities]
        except Exception as problem:  # an exception in this callback would be lost, and so would rows
            self.problems.append(problem)

    def rows(self) -> list[Row]:
        """Return all recorded rows in order of time; see `timeline.of_lesson`."""
        self.cupti.activity_flush_all(1)
        if self.problems:
            raise self.problems[0]
        return in_order(self.recorded)


def describe(activity: Any, cupti: Any) -> Row:
    """Return a record of CUPTI as a row, with `start` and `end` in ns. An NVTX range has a record for each of them."""
    cupti_kind = cupti.ActivityKind(activity.kind).name
    kind = KINDS[cupti_kind]
    if kind == "NVTX range":
        if not activity.flags_ & cupti.ActivityFlag.MARKER_START:
            return {"kind": kind, "id": activity.id, "end": activity.timestamp}  # the end of a range, or a mark
        return {"kind": kind, "id": activity.id, "start": activity.timestamp, "name": activity.name}
    row = {"kind": kind, "start": activity.start, "end": activity.end}
    if kind in ON_GPU:
        row["stream"] = activity.stream_id
    if kind in ("copy", "memset"):
        row["bytes"] = activity.bytes
    if kind == "kernel":
        grid = [activity.grid_x, activity.grid_y, activity.grid_z]
        block = [activity.block_x, activity.block_y, activity.block_z]
        named = {"name": readable(activity.name), "symbol": activity.name}
        return row | named | {"grid": grid, "block": block, "registers": activity.registers_per_thread}
    if kind == "API call":
        return row | {"name": _call(cupti, cupti_kind, activity.cbid), "thread": activity.thread_id}
    if kind == "copy":
        direction = cupti.ActivityMemcpyKind(activity.copy_kind).name
        return row | {"name": _COPIES.get(direction, direction)}
    if kind == "synchronization":
        return row | {"name": cupti.ActivitySynchronizationType(activity.type).name.lower().replace("_", " ")}
    return row | {"name": f"graph {activity.graph_id}" if kind == "graph" else "memset"}


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


@functools.cache
def _call(cupti: Any, api: str, number: int) -> str:
    """Return the name of a CUDA call from its number in CUPTI, without a version: `cuMemAlloc` for `cuMemAlloc_v2`."""
    return re.sub(r"_v\d+$", "", cupti.get_callback_name(cupti.CallbackDomain[f"{api}_API"], number))


def in_order(records: list[Row]) -> list[Row]:
    """Return rows in order of time, in seconds from the first, each with its clock and the number of its thread.

    The two records of an NVTX range become one row. A range that never ended is left out.
    """
    ends = {row["id"]: row["end"] for row in records if "start" not in row}
    whole = [row for row in records if "start" in row]
    for row in whole:
        row.setdefault("end", ends.get(row.pop("id", None)))
    whole = sorted((row for row in whole if row["end"] is not None), key=lambda row: (row["start"], -row["end"]))
    threads = list(dict.fromkeys(row["thread"] for row in whole if "thread" in row))
    first = whole[0]["start"] if whole else 0
    for row in whole:
        start, end = row.pop("start"), row.pop("end")
        row["clock"] = "device" if row["kind"] in ON_GPU else "host"
        row |= {"start_seconds": (start - first) / 1e9, "seconds": (end - start) / 1e9}
        if "thread" in row:
            row["thread"] = threads.index(row["thread"])
    return whole
