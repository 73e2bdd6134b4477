"""The costs of the ways, read from the book's files of results."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fourways import kernels, lesson
from fourways.experiments.choosing.model import Cost
from fourways.tables import Row
from fourways.ways import WAYS, is_host


def recorded(earlier: bool = False) -> list[Path]:
    """Return the book's files with the costs of the ways: lessons 00 and 01.

    `earlier` takes first results and launches that were measured earlier.
    """
    folder = kernels.root() / "book" / "results"
    return [folder / "00_two_workflows.json", folder / f"01_doublify{'_earlier' if earlier else ''}.json"]


def costs(*paths: Path) -> dict[str, Cost]:
    """Return the costs of all ways in these files, by way. Rows of a later file replace those of an earlier one.

    The files have a table `first_result` with cold and warm rows, and a table `timing`, whose long loop gives the
    seconds of a launch. With a table `edit_loop` (lesson 00's), `edit` is that loop's time in a running process, or,
    for a way that has no such loop, its build with a fresh process. Without the table, `edit` is the time of a whole
    build. A way without a cold and a warm row and its launches is left out, and so is the host way: its calls last as
    long as its kernels.
    """
    starts: dict[Any, Row] = {}
    launches: dict[Any, Row] = {}
    edits: dict[Any, Row] = {}
    origin = ""
    for path in paths:
        content = json.loads(path.read_text(encoding="utf-8"))
        tables, origin = content["tables"], f"{content['stamp']['device']}, {content['stamp']['date'][:10]}"
        starts |= {(row["way"], row["state"]): row for row in tables.get("first_result", ())}
        launches |= {row["way"]: row["launch_seconds"] for row in tables.get("timing", ()) if "launch_seconds" in row}
        edits |= {(row["way"], row["loop"]): row for row in tables.get("edit_loop", ())}
    ways = [way for way, state in starts if state == "warm" and (way, "cold") in starts and not is_host(way)]
    return {
        way: _cost(way, starts[way, "cold"], starts[way, "warm"], launches[way], edits, origin)
        for way in ways
        if way in launches
    }


def plug_in_seconds() -> tuple[float, float] | None:
    """Return the seconds for a user's formula with CUB in the library, from source and as LTO-IR (lesson 08).

    Returns None if they were not recorded.
    """
    path = kernels.root() / "book" / "recorded" / "08_linking.ipynb"
    rows = lesson.rows(path).get("price", []) if path.is_file() else []
    took = {row["shipped"]: row["seconds"]["median"] for row in rows if row["library"] == "with CUB"}
    return (took["source"], took["LTO-IR"]) if {"source", "LTO-IR"} <= took.keys() else None


def context_bytes() -> int | None:
    """Return the GPU memory that a context takes, as the page on PyCUDA beside CuPy printed it."""
    file = kernels.root() / "book" / "recorded" / "pycuda_beside_cupy.ipynb"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    match = re.search(r"pycuda\.autoinit: (\d+) MiB more", text)
    return int(match[1]) * 2**20 if match else None


def _cost(way: str, cold: Row, warm: Row, launch: Row, edits: Mapping[Any, Row], origin: str) -> Cost:
    stages = {name: seconds for name, seconds in warm["stages"].items() if name != "inputs"}
    inputs = warm["stages"].get("inputs", 0.0)
    if loop := edits.get((way, "running process")) or edits.get((way, "fresh process")):
        edited = loop["seconds"]["median"]
    else:
        edited = cold["stages"].get("build", 0.0) - warm["stages"].get("build", 0.0)
    more = 0.0 if way in WAYS and WAYS[way].is_shipped_built else _built(cold) - _built(warm)
    return Cost(
        name=way,
        stages=stages,
        low=warm["seconds"]["p10"] - inputs,
        high=warm["seconds"]["p90"] - inputs,
        launch=launch["median"],
        cold=max(0.0, more),
        edit=max(0.0, edited),
        origin=origin,
        launch_low=launch["p10"],
        launch_high=launch["p90"],
    )


def _built(row: Row) -> float:
    """Return the seconds in which a kernel becomes code on the GPU: the other stages do not depend on caches."""
    return row["stages"].get("build", 0.0) + row["stages"].get("load", 0.0)
