"""The table of timers and cheats.

Each timer runs in a fresh process of its own: benchmarks of `cuda.bench` run only once in a process.
"""

import functools
from collections.abc import Mapping, Sequence

from fourways import fresh_process, toolchain
from fourways.experiments.cheats import CHEATS, Cheat, Trial
from fourways.experiments.timers.libraries import TIMERS, ObjectionError, missing
from fourways.tables import Row, Table

LEAST = 0.05
"""The least difference between two times that counts, as a share of the honest one."""
_PROGRAM = """
import json, sys
from fourways.experiments.timers.verdicts import measured
print(json.dumps(measured(json.load(sys.stdin)["timer"])))
"""
_PATIENCE = 900.0  # seconds for one timer


def measured(name: str) -> dict[str, dict[str, Row]]:
    """Return what a timer reports in this process: by cheat, of "honest" and of "cheat".

    Each report has `seconds`, a summary or None, and `objection`, a line or None.
    """

    def make(cheat: Cheat, kind: str) -> Trial:
        trial = Trial(cheat, kind == "honest")
        if not trial.passes():
            raise ObjectionError("the first answer is wrong")
        trial.settle()
        return trial

    kinds = ("honest", "cheat")
    makes = {f"{cheat.name}, {kind}": functools.partial(make, cheat, kind) for cheat in CHEATS for kind in kinds}
    reports = TIMERS[name].measure(makes)
    return {cheat.name: {kind: reports[f"{cheat.name}, {kind}"] for kind in kinds} for cheat in CHEATS}


def word(honest: Row, cheat: Row) -> str:
    """Return in a word what a timer makes of a cheat, from its reports of the honest call and of the cheat.

    - "notices": it objects to the cheat, and not to the honest call
    - "believes": the medians differ by more than the honest samples' p10 to p90, and by more than `LEAST`
    - "not fooled": they do not
    - "": there is no time to compare
    """
    if cheat["objection"] and not honest["objection"]:
        return "notices"
    if not honest["seconds"] or not cheat["seconds"]:
        return ""
    p10, median, p90 = (honest["seconds"][key] for key in ("p10", "median", "p90"))
    differ = abs(cheat["seconds"]["median"] - median) > max(p90 - p10, LEAST * median)
    return "believes" if differ else "not fooled"


def table(reports: Mapping[str, Mapping[str, Mapping[str, Row]]], absent: Mapping[str, str]) -> Table:
    """Show the reports of `measured` by timer, a row for each cheat; `absent` says why a timer has no report.

    A cell has the word of `word`, and the cheat's time divided by the honest call's. `words`, `honest_seconds`,
    `cheat_seconds` and `objections` of a row are by timer.
    """
    rows: list[Row] = []
    for cheat in CHEATS:
        pairs = {name: report[cheat.name] for name, report in reports.items()}
        times = {kind: {name: pair[kind]["seconds"] for name, pair in pairs.items()} for kind in ("honest", "cheat")}
        row: Row = {"cheat": cheat.name, "means": cheat.means}
        row["words"] = {name: word(pair["honest"], pair["cheat"]) for name, pair in pairs.items()}
        row |= {f"{kind}_seconds": seconds for kind, seconds in times.items()}
        rows.append(row | {"objections": {name: pair["cheat"]["objection"] for name, pair in pairs.items()}})
    cells = [(name, functools.partial(_cell, name)) for name in TIMERS]
    notes = ["Behind the word: the cheat's time divided by the honest call's", *map(": ".join, absent.items())]
    return Table("timers", rows, ["cheat", *cells], f"{'. '.join(notes)}.")


def _cell(name: str, row: Row) -> str:
    honest, cheat = row["honest_seconds"].get(name), row["cheat_seconds"].get(name)
    ratio = f" {cheat['median'] / honest['median']:.2f}" if honest and cheat and honest["median"] else ""
    return f"{row['words'].get(name, '')}{ratio}".strip()


def compare(names: Sequence[str] = tuple(TIMERS)) -> Table:
    """Run the timers of `names`, half a minute to two minutes each, and return the table of all cheats.

    A timer that is not installed, or whose process fails, has empty cells, and the note says why.
    """
    reports, absent = {}, {name: reason for name in names if (reason := missing(name))}
    for name in (name for name in names if name not in absent):
        try:
            variables = toolchain.child_environment()
            ended = fresh_process.start(_PROGRAM, task={"timer": name}, environment=variables, timeout=_PATIENCE)
        except fresh_process.ProgramError:
            absent[name] = f"its process did not end within {_PATIENCE:.0f} s"
            continue
        if ended.answer:
            reports[name] = ended.answer
        else:
            absent[name] = f"its process failed: {ended.why}"
    return table(reports, absent)
