"""The targets of lessons 09 to 14 on an H200, beside their recordings. Look again at a recording that misses one."""

import json
from collections.abc import Iterator
from typing import Any

from fourways import kernels
from fourways.tables import Row, Table


def recorded(slug: str, table: str) -> list[dict[str, Any]]:
    """The rows of a table of a lesson's recorded results, none if the table was not recorded."""
    results = kernels.root() / "book" / "results" / "nvidia-h200" / f"{slug}.json"
    return json.loads(results.read_text(encoding="utf-8"))["tables"].get(table, [])


def tables() -> Iterator[Table]:
    """The one table of this group."""
    columns = [(name, lambda row, name=name: row[name]) for name in ("lesson", "what", "recorded", "aim")]
    yield Table("targets", list(rows()), columns, "Recorded on an H200; nothing was run.")


def row(number: str, what: str, value: float | None, aim: str) -> Row:
    """A row of the table."""
    return {"lesson": number, "what": what, "recorded": "not yet" if value is None else f"{value:.3f}", "aim": aim}


def rows() -> Iterator[Row]:
    """The rows, lesson by lesson."""
    shares: dict[str, float] = {}
    for each in recorded("11_streams", "overlap"):
        way = each["what"].split(",")[0]
        shares[way] = max(shares.get(way, 0), each["bound_seconds"] / each["seconds"]["median"])
    for way, share in shares.items():
        yield row("11", f"overlap by {way}: share of the bound", share, "0.9 at least")
    cpu = {each["plan"]: each["cpu_seconds"]["median"] for each in recorded("caches_and_storms", "storm")}
    for storm, one in (
        ("each its own empty cache", "one builds, broadcast"),
        ("each by nvcc", "one by nvcc, broadcast"),
    ):
        yield row("storms", f"CPU seconds, {storm} over {one}", cpu[storm] / cpu[one], "5 at least")
    large = [each for each in recorded("several_gpus", "scaling") if each["side"] == 16384]
    for gpus, aim in ((2, "1.95 at least"), (4, "3.7 at least")):
        if speedups := [
            each["speedup"] for each in large if each["gpus"] == gpus
        ]:  # else it was not recorded on so many
            yield row("several GPUs", f"speedup of the plate of 16384² on {gpus} GPUs", max(speedups), aim)
    errors = [abs(error) for each in recorded("14_choosing", "held_out") for error in each["errors"].values()]
    yield row("14", "largest error of the model", max(errors, default=None), "0.15 at most")
