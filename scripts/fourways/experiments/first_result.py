"""A way's program in a fresh process, timed stage by stage, and the table of such times."""

import statistics
from collections.abc import Mapping, Sequence

from fourways import fresh_process, kernels, toolchain
from fourways.tables import Column, Row, Table, seconds, seconds_range

STAGES = ("start", "import", "context", "inputs", "build", "load", "launch")
"""The stages of a first result, in the order of tables.

The interpreter starts; NumPy, CuPy or PyCUDA are imported; the driver sets up the GPU (`context`); the inputs are made
and copied; the source becomes machine code, or that comes from a cache (`build`); a module built ahead of time is
imported (`load`); the first call is made and waited for. Where nothing is built ahead of time, machine code goes to the
driver within `build` or `launch`.
"""
SHARED = ("start", "context", "inputs")
"""The stages that do not depend on the way."""


class FirstResultError(RuntimeError):
    """A fresh process failed or gave a wrong answer; the message holds its own words."""


def first_result(way: str, text: str, variables: Mapping[str, str] = {}) -> dict[str, float]:
    """Run a program of a way in one fresh process, and return the seconds of each stage, until the GPU is done.

    `text` is that of `ways.program`; its stage `launches` is returned, too, if it has one. `variables` are environment
    variables of the process. Raises FirstResultError if the process fails or its answer is wrong.
    """
    environment = toolchain.child_environment() | dict(variables)
    try:
        ended = fresh_process.start(text, environment=environment, folder=kernels.root() / "lessons")
    except fresh_process.ProgramError as error:
        raise FirstResultError(f"{way}: {error}") from None
    if ended.status:
        raise FirstResultError(f"{way}: {ended.why}")
    measured = {stage: length for stage, length in ended.stages.items() if stage in (*STAGES, "launches")}
    return dict.fromkeys(STAGES, 0.0) | measured


def first_result_table(rows: Sequence[Row]) -> Table:
    """Show the rows of first results; the note has the stages that all ways share."""
    columns: list[Column] = [
        "way",
        ("caches", "state"),
        *((name, lambda row, name=name: seconds(row["stages"][name])) for name in STAGES if name not in SHARED),
        ("sum", "own_seconds"),
        ("p10 – p90", lambda row: seconds_range(row["own_seconds"]["p10"], row["own_seconds"]["p90"])),
        ("against the fastest", "verdict"),
    ]
    return Table("first_result", rows, columns, _note(rows) if rows else "")


def _note(rows: Sequence[Row]) -> str:
    counts = {row["state"]: f"{row['own_seconds']['samples']} {row['state']}" for row in rows}
    warm = [row for row in rows if row["state"] == "warm"]
    shared = [f"{stage} {seconds(statistics.median(row['stages'][stage] for row in warm))}" for stage in SHARED]
    processes = f"Host clock; medians of {' and '.join(counts.values())} fresh processes."
    return f"{processes} All ways take in addition: {', '.join(shared)}."
