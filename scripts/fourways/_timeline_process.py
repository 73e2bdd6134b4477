"""A lesson in this fresh process, each stage an NVTX range: `python -m fourways._timeline_process 01 --way nvrtc`.

Or a Python program with its arguments: `python -m fourways._timeline_process my.py 3`. So run, they serve any profiler
that knows NVTX, such as Nsight Systems. With `--record FILE` CUPTI records what the process and the GPU do, and the
rows of `fourways.timeline` are written there.
"""

import argparse
import ctypes
import functools
import json
import os
import re
import runpy
import sys
from pathlib import Path
from typing import Any

from fourways import lesson
from fourways.tables import Row

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

ON_GPU = ("kernel", "copy", "memset", "graph")

_BUFFER_BYTES = 8 * 2**20  # what CUPTI's own examples hand out at a time
_COPIES = {"HTOD": "host to device", "DTOH": "device to host", "DTOD": "device to device", "HTOH": "host to host"}


class Recorder:
    """CUPTI's activity records, from its creation on. Create it before CuPy or PyCUDA are imported."""

    def __init__(self) -> None:
        from cuda.pathfinder import load_nvidia_dynamic_lib
        from cupti import cupti

        self.cupti, self.found, self.problems = cupti, list[Row](), list[Exception]()
        # NVTX looks here at a process's first range; it must be the library that cupti-python uses
        os.environ["NVTX_INJECTION64_PATH"] = str(load_nvidia_dynamic_lib("cupti").abs_path)
        for kind in KINDS:
            cupti.activity_enable(cupti.ActivityKind[kind])
        cupti.activity_register_callbacks(lambda: (_BUFFER_BYTES, 0), self._take)

    def _take(self, activities: list[Any]) -> None:
        try:
            self.found += [describe(activity, self.cupti) for activity in activities]
        except Exception as problem:  # from here it would reach nobody, and rows would be missing
            self.problems.append(problem)

    def rows(self) -> list[Row]:
        """All that was recorded, in order of time; see `fourways.timeline.record`."""
        self.cupti.activity_flush_all(1)
        if self.problems:
            raise self.problems[0]
        return relative(paired(self.found))


def describe(activity: Any, cupti: Any) -> Row:
    """One of CUPTI's records as a row, its `start` and `end` in ns; an NVTX range has a record for either."""
    cupti_kind = cupti.ActivityKind(activity.kind).name
    kind = KINDS[cupti_kind]
    if kind == "NVTX range":
        if not activity.flags_ & cupti.ActivityFlag.MARKER_START:
            return {"kind": kind, "id": activity.id, "end": activity.timestamp}  # the end of one, or a single mark
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
    """`cub::DeviceReduceKernel`, `saxpy<float>`, `doublify`: a kernel's name as one would say it.

    Long template arguments, parameters and inner namespaces are left out.
    """
    if (text := _demangled(symbol)) == symbol:
        return symbol
    text = text.replace("(anonymous namespace)::", "")
    if short := re.fullmatch(r"(?:\S+ )?(\w+<[\w, ]{1,24}>)\(.*", text):
        return short[1]
    while (less := re.sub(r"<[^<>]*>", "", text)) != text:
        text = less
    parts = text.partition("(")[0].split(" ")[-1].split("::")
    return "::".join([parts[0], *parts[1:][-1:]])


def _demangled(symbol: str) -> str:
    """What the C++ library says that a symbol means; the symbol itself where it says nothing."""
    try:
        library = ctypes.CDLL("libstdc++.so.6")  # CuPy needs it, too
    except OSError:
        return symbol
    demangle = library["__cxa_demangle"]
    demangle.restype = ctypes.c_void_p
    found = demangle(symbol.encode(), None, None, None) if symbol.startswith("_Z") else None
    if not found:
        return symbol
    text = ctypes.string_at(found).decode()
    ctypes.CDLL(None).free(ctypes.c_void_p(found))
    return text


@functools.cache
def _call(cupti: Any, api: str, number: int) -> str:
    """`cuMemAlloc` for the driver's call that CUPTI knows as number 243 and names `cuMemAlloc_v2`."""
    return re.sub(r"_v\d+$", "", cupti.get_callback_name(cupti.CallbackDomain[f"{api}_API"], number))


def paired(found: list[Row]) -> list[Row]:
    """Rows in which the start and the end of each NVTX range are one; a range that never ended is left out."""
    ends = {row["id"]: row["end"] for row in found if "id" in row and "end" in row}
    whole = [row | {"end": ends[row["id"]]} for row in found if "start" in row and "id" in row and row["id"] in ends]
    return [row for row in found if "id" not in row] + [{k: v for k, v in row.items() if k != "id"} for row in whole]


def relative(found: list[Row]) -> list[Row]:
    """Rows in order of time, in seconds from the first; each names its clock and numbers its thread from 0."""
    first = min((row["start"] for row in found), default=0)
    threads = list(dict.fromkeys(row["thread"] for row in found if "thread" in row))
    rows = []
    for row in sorted(found, key=lambda row: (row["start"], -row["end"])):
        start, end = row.pop("start"), row.pop("end")
        clock = "device" if row["kind"] in ON_GPU else "host"
        times = {"clock": clock, "start_seconds": (start - first) / 1e9, "seconds": (end - start) / 1e9}
        rows.append(row | times | ({"thread": threads.index(row["thread"])} if "thread" in row else {}))
    return rows


def way_stages(found: lesson.Lesson, way: str, size: int, launches: int) -> None:
    """One way of a lesson from its imports to the copied result. Raises CheckFailure where that is wrong."""
    from fourways._first_process import split

    setup_imports, setup = split("\n".join(found.cells("setup")))
    way_imports, cell = split("\n".join(found.cells(f"way-{way}")))
    namespace: dict[str, Any] = {"__name__": f"lesson_{found.slug}"}
    exec(setup_imports, namespace)
    exec(way_imports, namespace)
    import cupy
    import numpy as np
    from cupyx.profiler import profile, time_range

    from fourways import checking

    synchronize = cupy.cuda.Device().synchronize
    with time_range("context"):
        cupy.cuda.runtime.free(0)  # does nothing, in a context that it must first create
    with time_range("inputs"):
        exec(setup, namespace)
        inputs = namespace["make_inputs"](size)
        expected = namespace["reference"](*inputs)
        output = np.full_like(expected, checking.poison(expected.dtype))
        arguments = [checking.place(way, value) for value in (*inputs, output)]
        synchronize()
    with time_range("build"):
        exec(cell, namespace)
    function = namespace[f"{found.meta['kernel']}_{way}"]
    with time_range("first launch"):
        function(*arguments)
        synchronize()
    with profile(), time_range("warm launches"):
        for _ in range(launches):
            function(*arguments)
        synchronize()
    with time_range("copy back"):
        got = checking.fetch(arguments[-1])
    if problem := checking.compare(got, expected, float(found.meta.get("rtol", 0.0))):
        raise checking.CheckFailure(f"{function.__name__}, size {size}: {problem}")


def all_cells(found: lesson.Lesson) -> None:
    """Every cell of a lesson that can run here, as in a notebook. Raises what a cell raises."""
    from IPython.core.interactiveshell import InteractiveShell

    from fourways import nvtx_cells, running

    os.environ[nvtx_cells.LESSON] = found.slug
    shell = InteractiveShell.instance()
    nvtx_cells.load_ipython_extension(shell)
    for cell in found.notebook.cells:
        if cell.cell_type == "code" and not running.skip_reason(cell):
            shell.run_cell(cell.source, store_history=True).raise_error()


def program(path: Path, arguments: list[str]) -> None:
    """A Python program as `python path arguments` runs it. Raises what it raises; its SystemExit only if it failed."""
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise


def main() -> None:
    """Run the stages; what fails is one message on standard error, without a traceback."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lesson", help="a lesson's number, or a Python program (.py)")
    parser.add_argument("--way", help="only this way, in stages; else every cell of the lesson")
    parser.add_argument("--size", type=int, default=2**26, help="elements of a way's arrays")
    parser.add_argument("--launches", type=int, default=10, help="warm launches of a way")
    parser.add_argument("--record", type=Path, help="the JSON file to write")
    parser.add_argument("arguments", nargs="*", help="the program's; put -- before it if some start with a dash")
    asked = parser.parse_args()
    try:
        found = None if asked.lesson.endswith(".py") else lesson.find(asked.lesson)
        recorder = Recorder() if asked.record else None
        if found is None:
            program(Path(asked.lesson), asked.arguments)
        elif asked.way:
            way_stages(found, asked.way, asked.size, asked.launches)
        else:
            all_cells(found)
        if recorder:
            asked.record.write_text(json.dumps(recorder.rows()), encoding="utf-8")
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
