"""The time of import statements in fresh processes."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from fourways import fresh_process, toolchain
from fourways.measuring import rounds, turns
from fourways.tables import RANGE, Row, Table, summary

_IMPORT = """
import time
begin = time.perf_counter()
%s
print('{"seconds":', time.perf_counter() - begin, "}")
"""


def imports(statements: Mapping[str, str], times: int | None = None, at_once: int = 4) -> Table:
    """Time import statements (host clock), each in `times` fresh processes, of which `at_once` run at a time.

    By default, there are 21 processes while a lesson is recorded, and a third of that elsewhere.
    The statements take turns, after one process each that is not counted. Rows are in the order of their medians. Two
    neighbours have the same rank if the slower one's p10 is not above the faster one's p90. A statement that fails is
    left out; the note names it.
    """
    variables = toolchain.child_environment()
    times = rounds(21) if times is None else times

    def one(name: str) -> tuple[str, float | None]:
        ended = fresh_process.start(_IMPORT % statements[name], environment=variables)
        return name, None if ended.status else ended.answer["seconds"]

    with ThreadPoolExecutor(at_once) as pool:
        here = [name for name, took in pool.map(one, statements) if took is not None]
        samples: dict[str, list[float]] = {name: [] for name in here}
        for name, took in pool.map(one, turns(times, here)):
            samples[name] += [] if took is None else [took]
    rows: list[Row] = [{"way": name, "clock": "host", "seconds": summary(took)} for name, took in samples.items()]
    rows.sort(key=lambda row: row["seconds"]["median"])
    for place, row in enumerate(rows):
        above = rows[place - 1] if place else None
        is_near = above and row["seconds"]["p10"] <= above["seconds"]["p90"]
        row["rank"] = above["rank"] if above and is_near else place + 1
    absent = [name for name in statements if name not in here]
    note = f"Host clock; {times} fresh processes each, {at_once} at a time."
    note += f" Not importable here: {', '.join(absent)}." if absent else ""
    return Table("imports", rows, [("import", "way"), ("median", "seconds"), RANGE, "rank"], note)
