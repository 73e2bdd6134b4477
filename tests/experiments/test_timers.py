"""The rule that says whether a timer believes a cheat. The page itself runs the timers, on a GPU."""

import pytest

from fourways import tables
from fourways.experiments.timers import verdicts


def report(*samples: float, objection: str | None = None) -> tables.Row:
    return {"seconds": tables.summary(samples) if samples else None, "objection": objection}


STEADY = report(*[1.0] * 10)
WIDE = report(0.8, 0.9, 1.0, 1.1, 1.2)  # p10 to p90: 0.32


@pytest.mark.parametrize(
    "honest, cheat, expected",
    [
        (STEADY, report(0.1), "believes"),
        (STEADY, report(2.0), "believes"),
        (STEADY, report(0.96), "not fooled"),
        (STEADY, report(1.04), "not fooled"),
        (WIDE, report(0.7), "not fooled"),
        (WIDE, report(0.6), "believes"),
        (STEADY, report(*[0.1] * 8, 1.0, 1.0), "believes"),
        (STEADY, report(objection="wrong"), "notices"),
        (STEADY, report(0.1, objection="too good"), "notices"),
        (report(1.0, objection="clock"), report(0.1, objection="clock"), "believes"),
        (report(1.0, objection="clock"), report(0.1), "believes"),
        (report(objection="refused"), report(objection="refused"), ""),
        (report(objection="refused"), report(0.1), ""),
    ],
)
def test_the_rule(honest: tables.Row, cheat: tables.Row, expected: str) -> None:
    assert verdicts.word(honest, cheat) == expected
