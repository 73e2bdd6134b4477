"""What CUPTI records of a pipeline, drawn by stage and stream."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fourways import figures, tables, timeline
from fourways.tables import Row

_RECORDED_AS = {
    "copy in": {"kind": "copy", "name": "host to device"},
    "compute": {"kind": "kernel", "name": "kernel"},
    "copy out": {"kind": "copy", "name": "device to host"},
}
STAGES = tuple(_RECORDED_AS)
"""The stages of a pipeline, in order. A GPU can work on all three at the same time."""
_HAIRLINE = 0.3  # points: keeps very short kernels visible
_PROGRAM = """
import cupy as cp
import numpy as np
from cupyx.profiler import time_range

from fourways import lesson
from fourways.experiments import pipelines

{functions}

launch = lesson.load(lesson.find("11"), ["nvrtc"]).functions["nvrtc"]
arrays = {{memory: pipelines.arrays(12, 2**21, memory == "pinned") for memory in ("pinned", "pageable")}}
for name, memory, count in {runs!r}:
    mine = queues(count, 2**21)
    cp.cuda.Device().synchronize()
    with time_range(name):
        pipeline(launch, mine, *arrays[memory])
        cp.cuda.Device().synchronize()
"""
_RECORDED = (
    ("warm-up", "pinned", 1),
    ("pinned, 1 stream", "pinned", 1),
    ("pinned, 3 streams", "pinned", 3),
    ("pageable, 3 streams", "pageable", 3),
)


def timelines(pipeline: Callable[..., Any], queues: Callable[..., Any]) -> dict[str, list[Row]]:
    """Record pipelines by CUPTI in a process of its own, on smaller arrays; return the rows of each by its title.

    The process gets the text of both functions. Prints why, and returns nothing, if this machine cannot record.
    """
    functions = "\n\n".join(map(inspect.getsource, (queues, pipeline)))
    try:
        with TemporaryDirectory() as folder:
            path = Path(folder, "pipelines.py")
            path.write_text(_PROGRAM.format(functions=functions, runs=_RECORDED), encoding="utf-8")
            rows = timeline.of_program(path)
    except timeline.TimelineError as error:
        print(error)
        return {}
    return {title: timeline.part(rows, title) for title, _, _ in _RECORDED[1:]}


def stage(row: Row) -> str | None:
    """Return the stage of `STAGES` that a row of a timeline belongs to, or None."""
    if row["kind"] in ("kernel", "graph"):
        return "compute"
    return next((name for name, known in _RECORDED_AS.items() if known == {key: row[key] for key in known}), None)


def figure(panels: Mapping[str, Sequence[Row]], title: str = "") -> Any:
    """Draw the times at which a GPU copied and computed: `panels[name]` are the rows of a timeline.

    Each panel has a lane for each of `STAGES` and a colour for each stream. Time starts with the panel's first work,
    and all panels have the same scale. Returns None without panels; raises ValueError if a panel has no such work.
    """
    if not panels:
        return None
    drawn, axes = figures.new((4.8, 0.8 + 1.05 * len(panels)), len(panels), sharex=True, squeeze=False)
    for panel, (name, rows) in zip(axes[:, 0], panels.items(), strict=True):
        tasks = [row for row in rows if stage(row)]
        if not tasks:
            raise ValueError(f"{name}: no copies and no kernels to draw")
        first = min(row["start_seconds"] for row in tasks)
        streams = list(dict.fromkeys(row["stream"] for row in tasks))
        colours = {each: figures.STAGE_COLOURS[1 + number % 6] for number, each in enumerate(streams)}
        for lane, wanted in enumerate(STAGES):
            part = [row for row in tasks if stage(row) == wanted]
            bars = [(1e3 * (row["start_seconds"] - first), 1e3 * row["seconds"]) for row in part]
            look = [colours[row["stream"]] for row in part]
            panel.broken_barh(bars, (lane - 0.38, 0.76), facecolors=look, edgecolors=look, linewidth=_HAIRLINE)
        panel.set_yticks(range(len(STAGES)), STAGES)
        panel.set_ylim(len(STAGES) - 0.5, -0.5)
        taken = max(row["start_seconds"] + row["seconds"] for row in tasks) - first
        panel.set_title(f"{name}: {tables.seconds(taken)}", loc="left", fontsize=8)
    axes[-1, 0].set_xlabel("ms, a colour for each stream")
    drawn.suptitle(title)
    return drawn
