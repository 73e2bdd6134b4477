"""Lesson 13 on a GPU: the driver follows the rule of `toolchain.runs_on`, and PTX is compiled once."""

from fourways.experiments import shipping

NAMES = ("sm_75", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_120", "compute_75", "compute_90a")


def test_the_driver_starts_what_the_rule_says() -> None:
    rows = shipping.attempt([*NAMES, shipping.NEWER]).rows
    assert {row["code"]: row["driver"] == "loaded" for row in rows} == {
        row["code"]: row.get("rule", False) for row in rows
    }


def test_ptx_computes_the_same() -> None:
    table = shipping.speeds(lambda u: (1, 1), (128, 2), side=64)
    assert [row["way"] for row in table.rows[:2]] == ["machine code", "PTX for 7.5"]


def test_the_first_load_of_ptx_is_one_of_four() -> None:
    assert len(shipping.first_loads(rounds=1).rows) == 4
