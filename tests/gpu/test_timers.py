"""On a GPU: what of the table of timers and cheats does not depend on the GPU."""

import pytest

from fourways import tables
from fourways.experiments import cheats, timers

CHEATS = {cheat.name: cheat for cheat in cheats.CHEATS}


@pytest.fixture(scope="module")
def ours() -> dict[str, tables.Row]:
    return {row["cheat"]: row for row in timers.compare([timers.OURS]).rows}


@pytest.mark.parametrize("is_honest", [True, False], ids=["honest", "cheat"])
@pytest.mark.parametrize("name", CHEATS)
def test_every_function_passes_the_usual_check_once(name: str, is_honest: bool) -> None:
    assert cheats.Trial(CHEATS[name], is_honest).passes()


@pytest.mark.parametrize("name", CHEATS)
def test_our_timer_times_every_honest_call(name: str, ours: dict[str, tables.Row]) -> None:
    assert ours[name]["honest_seconds"][timers.OURS], ours[name]


@pytest.mark.parametrize(
    "name, objection",
    [
        ("other stream", "another stream"),
        ("not cleared", "computed"),
        ("NaN", "computed"),
        ("warm-up only", "never written"),
        ("changed input", "its input number 0 is changed"),
    ],
)
def test_our_timer_notices(name: str, objection: str, ours: dict[str, tables.Row]) -> None:
    """By its objection: beside other work on the GPU, it may doubt the honest call's time as well."""
    assert objection in ours[name]["objections"][timers.OURS], ours[name]


def test_our_timer_gives_no_answer_to_replay(ours: dict[str, tables.Row]) -> None:
    """The cheat looks for the answer and then computes, so it cannot be quicker than the honest call."""
    row = ours["answer replayed"]
    medians = [row[f"{kind}_seconds"][timers.OURS]["median"] for kind in ("cheat", "honest")]
    assert medians[0] > (1 - timers.LEAST) * medians[1]


@pytest.mark.parametrize("name", [name for name in timers.TIMERS if name != timers.OURS])
def test_every_timer_runs_or_says_why_not(name: str) -> None:
    table = timers.compare([name])
    if reason := timers.missing(name):
        assert reason in table.note
        pytest.skip(reason)
    assert f"{name}: " not in table.note, "its process failed"
    for row in table.rows:
        assert row["honest_seconds"][name], f"{row['cheat']}: {row['objections']}"
