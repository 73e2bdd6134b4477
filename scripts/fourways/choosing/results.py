"""The costs of the ways, read from files of results: the book's, or those that `fourways time --json` wrote."""

import json
import re
import reprlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fourways import kernels, lesson
from fourways.choosing.model import Cost
from fourways.tables import Row
from fourways.ways import WAYS, is_host

_FIRST = "`fourways time 1 --first --json first.json` measures them"
_ONE = "`fourways time 1 --first --json first.json` writes one"


class ResultsError(ValueError):
    """A file of results that cannot be used. The message says which file, why, and how to make a good one."""


def recorded(earlier: bool = False) -> list[Path]:
    """Return the book's files with the costs of the ways: lessons 00 and 01.

    `earlier` takes first results and launches that were measured earlier. Raises ResultsError if there are none.
    """
    folder = kernels.root() / "book" / "results"
    names = "00_two_workflows", "01_doublify_earlier" if earlier else "01_doublify"
    if paths := [path for name in names if (path := folder / f"{name}.json").is_file()]:
        return paths
    raise ResultsError(f"nothing is recorded in this clone's book/results: give files of your own; {_FIRST}")


def costs(*paths: Path) -> dict[str, Cost]:
    """Return the costs of all ways in these files, by way. Rows of a later file replace those of an earlier one.

    The files must have a table `first_result` with cold and warm rows, and a table `timing` of the same machine, whose
    long loop gives the seconds of a launch. With a table `edit_loop` (lesson 00's), `edit` is that
    loop's time in a running process, or, for a way that has no such loop, its build with a fresh process.
    Without the table, `edit` is the time of a whole build. The host way is left out: its calls last as long as its
    kernels.
    Raises ResultsError for a bad file, and if a needed table is in none of the files.
    """
    rows_of: dict[str, dict[Any, Row]] = {name: {} for name in _WANTED}
    origins: dict[str, str] = {}
    for path in paths:
        content = _read(path)
        device = content["stamp"].get("device") or "a machine without a GPU"
        origins[device] = f"{device}, {str(content['stamp'].get('date'))[:10]}"
        for name, key in (("first_result", "state"), ("timing", "way"), ("edit_loop", "loop")):
            for row in _rows(path, content["tables"], name):
                rows_of[name][row["way"], row.get(key)] = row
    where = " and ".join(map(str, paths))
    if len(origins) > 1:
        raise ResultsError(f"{where} come from different machines: {', '.join(origins)}; measure all on one")
    starts, launches, edits = rows_of["first_result"], rows_of["timing"], rows_of["edit_loop"]
    if not starts:
        raise ResultsError(f"no first results in {where}: {_FIRST}")
    (origin,) = origins.values()
    told = {}
    for way, _ in starts:
        cold, warm, timed = starts.get((way, "cold")), starts.get((way, "warm")), launches.get((way, way))
        if cold and warm and timed:
            told[way] = _cost(way, cold, warm, timed["launch_seconds"], edits, origin)
    if not told:
        raise ResultsError(f"no way on a GPU has a cold and a warm first result and its launches in {where}: {_FIRST}")
    return told


def plug_in_seconds() -> tuple[float, float] | None:
    """Return the seconds for a user's formula with CUB in the library, from source and as LTO-IR (lesson 08).

    Returns None if they were not recorded.
    """
    path = kernels.root() / "book" / "recorded" / "08_linking.ipynb"
    rows = lesson.rows(path).get("price", []) if path.is_file() else []
    took = {row["shipped"]: row["seconds"]["median"] for row in rows if row["library"] == "with CUB"}
    return (took["one source"], took["ltoir"]) if {"one source", "ltoir"} <= took.keys() else None


def context_bytes() -> int | None:
    """Return the GPU memory that a context takes, as lesson 04's recording printed it."""
    file = kernels.root() / "book" / "recorded" / "04_transpose.ipynb"
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


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):  # RecursionError: nested too deeply
        raise ResultsError(f"{path} is not valid JSON; {_ONE}") from None
    whole = isinstance(content, dict) and {"stamp", "tables"} <= content.keys()
    if not whole or not all(isinstance(content[key], dict) for key in ("stamp", "tables")):
        raise ResultsError(f"{path} is not a file of results with `stamp` and `tables`; {_ONE}")
    for key in ("device", "date"):
        if not isinstance(content["stamp"].get(key), str | None):
            raise ResultsError(f"{path}: its `stamp` has no good `{key}`; {_ONE}")
    return content


_WANTED: Mapping[str, Sequence[str]] = {
    "first_result": ("way", "state", "seconds", "stages"),
    "timing": ("way", "launch_seconds"),
    "edit_loop": ("way", "loop", "seconds"),
}


def _rows(path: Path, tables: Mapping[str, Any], name: str) -> list[Row]:
    """Return the rows of a table that are about ways on the GPU. Raises ResultsError if a needed value is missing."""
    rows = tables.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ResultsError(f"{path}: `{name}` is not a list of rows as this version of Four Ways writes it")
    if name == "timing":  # the host way and the copy have no launch
        rows = [row for row in rows if "launch_seconds" in row]
    rows = [row for row in rows if not is_host(str(row.get("way")))]
    for row in rows:
        for key in (*_WANTED[name], *({"launch_seconds"} & row.keys())):
            if not _good(value := row.get(key), key):
                raise ResultsError(
                    f"{path}: a row of `{name}` has no good `{key}` ({reprlib.repr(value)}), as this version of Four "
                    "Ways writes it; measure again"
                )
    return rows


def _good(value: Any, key: str) -> bool:
    """Return whether a value has the right type and range for this key."""
    if key in ("way", "state", "loop"):
        return isinstance(value, str)
    if not isinstance(value, dict) or (key != "stages" and not {"median", "p10", "p90"} <= value.keys()):
        return False
    if not all(isinstance(each, int | float) and 0 <= each <= sys.float_info.max for each in value.values()):
        return False
    return key != "stages" or any(seconds > 0 for stage, seconds in value.items() if stage != "inputs")
