"""Bindings under one launcher, and the ranks of imports."""

from typing import Any

import numpy as np

from fourways import toolchain
from fourways.experiments import more_ways


def test_collect_checks_the_further_ways_and_names_a_wrong_one() -> None:
    def right(x: Any, y: Any) -> None:
        y[...] = 2 * x

    def wrong(x: Any, y: Any) -> None:
        y[...] = x

    namespace = {
        "make_inputs": lambda size: (np.arange(size, dtype=np.float32),),
        "reference": lambda x: 2 * x,
        "doublify_host": right,
    }
    assert list(more_ways.collect(namespace).functions) == ["host"]
    if toolchain.missing("gpu"):
        ways = more_ways.collect(namespace | {"doublify_wrong": wrong})
        assert "wrong" in ways.missing and "wrong" not in ways.runnable and "host" in ways.runnable


def test_ranks_of_imports() -> None:
    """A module that sleeps is behind; what cannot be imported is named; two of a kind may share a rank."""
    slow = "import time; time.sleep(0.2)"
    statements = {"slow": slow, "quick": "pass", "same": "pass", "absent": "import not_there_at_all"}
    table = more_ways.imports(statements, times=5, at_once=2)
    ranks = {row["way"]: row["rank"] for row in table.rows}
    assert ranks["slow"] == 3 and min(ranks["quick"], ranks["same"]) == 1 and "absent" not in ranks
    assert {row["seconds"]["samples"] for row in table.rows} == {5}
    assert table.note == "Host clock; 5 fresh processes each, 2 at a time. Not importable here: absent."
