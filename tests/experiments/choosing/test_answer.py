"""The answer: who is best, who is as good, and what it costs in all."""

import pytest

from fourways.experiments import choosing

NEAR = choosing.Cost("near", {"start": 0.5}, 0.45, 0.6, launch=5e-6, cold=0.25, edit=0.1, origin="A GPU, today")
TIED = choosing.Cost("tied", {"start": 0.62}, 0.58, 0.7, launch=5e-6, cold=0.0, edit=2.0, origin="A GPU, today")
FAR = choosing.Cost("far", {"start": 0.75}, 0.7, 0.8, launch=2e-6, cold=0.1, edit=0.1, origin="A GPU, today")
WHOLE = choosing.Cost("whole", {"start": 1}, 1, 1, launch=1, cold=1, edit=1)  # as JSON may hold them
COSTS = {cost.name: cost for cost in (FAR, TIED, NEAR)}


def test_the_best_comes_first_and_a_tie_is_called_one() -> None:
    rows = choosing.choose(COSTS, kernel=30e-6, launches=0).rows
    assert [(row["way"], row["verdict"]) for row in rows] == [
        ("near", "no difference"),
        ("tied", "no difference"),
        ("far", "× 1.50"),
    ]


def test_all_is_runs_and_cold_runs_and_edits() -> None:
    (row,) = choosing.choose({"near": NEAR}, kernel=30e-6, launches=10_000, runs=100, cold_runs=4, edits=10).rows
    assert row["run_seconds"] == pytest.approx(0.8)
    assert row["total_seconds"] == pytest.approx(100 * 0.8 + 4 * 0.25 + 10 * 0.1)
    assert row["low_seconds"] == pytest.approx(row["total_seconds"] - 5)
    assert row["high_seconds"] == pytest.approx(row["total_seconds"] + 10)


def test_the_table_says_what_was_asked_and_measured() -> None:
    table = choosing.choose(COSTS, kernel=1e-6, launches=200, runs=100, cold_runs=1, edits=3)
    assert table.note == ("Runs: 100, 1 of them cold; launches in each: 200; edits: 3. Measured on A GPU, today.")
    assert "5.00 µs host" in table.cells()[0]
    assert "30.0 µs GPU" in choosing.choose(COSTS, kernel=30e-6, launches=1).cells()[0]


@pytest.mark.parametrize(
    "numbers, said",
    [
        ({"kernel": 0.0}, "more than 0 s"),
        ({"launches": -1}, "no negative number"),
        ({"runs": 0}, "at least one run"),
        ({"edits": -1}, "no negative number"),
        ({"cold_runs": 2}, "of 1 runs, 2 cannot be cold"),
        ({"cold_runs": -1}, "of 1 runs, -1 cannot be cold"),
        ({"costs": {}}, "no way to choose from"),
        ({"kernel": 1e300, "launches": 10**11}, "more seconds than a number can hold"),
        ({"costs": {"whole": WHOLE}, "runs": 10**400}, "more seconds than a number can hold"),
    ],
)
def test_numbers_that_make_no_sense(numbers: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        choosing.choose(**{"costs": COSTS, "kernel": 1e-6, "launches": 1} | numbers)


def test_the_figure_rings_the_crossings() -> None:
    drawn = choosing.figure(COSTS, 1e-6, most=10**6)
    (axes,) = drawn.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in drawn.legends[0].texts] == ["far", "tied", "near"]
    dots = [line.get_xydata().tolist() for line in axes.lines if line.get_marker() == "o"]
    rings = [dot[0] for dot in dots if len(dot) == 1]
    assert [ring[0] for ring in rings] == pytest.approx([73333.3, 116666.7]), "far overtakes tied, then near"
    assert len(axes.lines) == 3 + 2 and len(axes.collections) == 3, "a line and a band each"
    assert len(choosing.figure(COSTS, 1e-6, most=50_000).axes[0].lines) == 3, "what lies beyond is not drawn"
