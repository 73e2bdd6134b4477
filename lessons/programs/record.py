"""Record the kernels, copies, CUDA calls and ranges of a Python program, by CUPTI.

python record.py TRACE.json PROGRAM.py ARGUMENTS...

The trace opens in ui.perfetto.dev. You need `pip install cupti-python cuda-pathfinder`, and no
special rights. All of the program is recorded, under `profile()` or not. The program must wait
for the GPU before it ends.
"""

import json
import os
import runpy
import sys
from pathlib import Path

from cuda.pathfinder import load_nvidia_dynamic_lib
from cupti import cupti

# at a program's first range, NVTX loads the library that this variable names
os.environ["NVTX_INJECTION64_PATH"] = str(load_nvidia_dynamic_lib("cupti").abs_path)
LANES = {"CONCURRENT_KERNEL": "GPU", "MEMCPY": "GPU", "MEMSET": "GPU"}
LANES |= {"RUNTIME": "CUDA calls", "DRIVER": "CUDA calls", "MARKER": "ranges"}
rows, ranges = [], {}


def keep(activities):
    """Take the records of a full buffer; CUPTI calls this function."""
    for each in activities:
        kind = cupti.ActivityKind(each.kind).name
        # a range has two records: one for its begin, with the name, one for its end
        if kind == "MARKER":
            begins = each.flags_ & cupti.ActivityFlag.MARKER_START
            row = (
                {"name": each.name, "start": each.timestamp}
                if begins
                else {"end": each.timestamp}
            )
            ranges.setdefault(each.id, {"lane": "ranges"}).update(row)
            continue
        name = each.name if kind == "CONCURRENT_KERNEL" else kind.lower()
        if LANES[kind] == "CUDA calls":
            name = cupti.get_callback_name(cupti.CallbackDomain[f"{kind}_API"], each.cbid)
        row = {"name": name, "lane": LANES[kind], "start": each.start, "end": each.end}
        if row["lane"] == "GPU":
            row["stream"] = each.stream_id
        if kind == "MEMCPY":
            # HTOD, DTOH, …
            row["args"] = {"direction": cupti.ActivityMemcpyKind(each.copy_kind).name}
        rows.append(row)


cupti.activity_register_callbacks(lambda: (2**23, 0), keep)  # buffers of 8 MiB
for kind in LANES:
    cupti.activity_enable(cupti.ActivityKind[kind])
path, *sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    cupti.activity_flush_all(1)
    rows += [row for row in ranges.values() if {"start", "end"} <= row.keys()]
    first, numbers = min(row["start"] for row in rows), {"ranges": 1, "CUDA calls": 2, "GPU": 3}
    events = [
        {"ph": "M", "name": "process_name", "pid": numbers[lane], "args": {"name": lane}}
        for lane in numbers
    ]
    for row in sorted(rows, key=lambda row: row["start"]):
        event = {
            "ph": "X",
            "name": row["name"],
            "cat": row["lane"],
            "pid": numbers[row["lane"]],
        }
        # a lane for each stream
        event |= {"tid": row.get("stream", 1), "args": row.get("args", {})}
        # µs
        event |= {"ts": (row["start"] - first) / 1e3, "dur": (row["end"] - row["start"]) / 1e3}
        events.append(event)
    Path(path).write_text(json.dumps({"traceEvents": events}))
    print(f"{len(rows)} records in {path}")
