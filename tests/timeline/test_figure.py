"""The drawing of a timeline: the whole run, a closer look, and a legend of the stages."""

from pathlib import Path
from typing import Any

import pytest

from fourways import figures, tables, timeline


def legend(drawn: Any) -> list[str]:
    return [text.get_text() for text in drawn.legends[0].get_texts()]


def notes(drawn: Any) -> list[str]:
    return [note.get_text() for note in drawn.axes[1].texts]


def test_the_warm_launches_are_shown_closer(rows: list[tables.Row], tmp_path: Path) -> None:
    drawn = timeline.figure(rows, "doublify by NVRTC")
    whole, detail = drawn.axes
    assert whole.get_title(loc="left") == "the whole run"
    assert detail.get_title(loc="left") == "warm launches, 9 gaps of 2.00 µs (median)"
    assert (whole.get_xlabel(), detail.get_xlabel()) == ("ms", "ms")
    assert detail.get_xlim()[1] == pytest.approx(1.5), "the detail shows the warm launches and no more"
    assert "10 doublify" in notes(drawn)
    figures.save(drawn, tmp_path / "timeline.svg")
    assert "doublify by NVRTC" in (tmp_path / "timeline.svg").read_text()
    assert drawn.get_figwidth() <= 4.8, "inches: readable on a phone"


def test_a_lane_names_what_took_longest_not_what_came_most(rows: list[tables.Row]) -> None:
    asked = {"kind": "API call", "clock": "host", "name": "cudaGetDevice", "seconds": 1e-9, "thread": 0}
    often = [asked | {"start_seconds": 0.9099 + i * 1e-7} for i in range(100)]
    assert "1 cudaDeviceSynchronize, 10 cuLaunchKernel, 1 other name" in notes(timeline.figure([*rows, *often]))


def test_the_legend_has_each_stage_once_with_its_seconds(rows: list[tables.Row]) -> None:
    drawn = timeline.figure(rows)
    stages = ["import, 320 ms", "context, 70.0 ms", "inputs, 350 ms", "build, 50.0 ms"]
    assert legend(drawn) == [*stages, "warm launches, 1.50 ms", "copy back, 30.0 ms", "host waits for GPU"]
    colours = [handle.get_facecolor() for handle in drawn.legends[0].legend_handles]
    assert len(set(colours)) == len(colours), "no two look alike"


def test_a_range_can_be_shown_closer(rows: list[tables.Row]) -> None:
    drawn = timeline.figure(rows, closer="copy back")
    assert drawn.axes[1].get_title(loc="left") == "copy back"
    assert drawn.axes[1].get_xlim()[1] == pytest.approx(30), "ms"


def test_without_ranges_the_densest_work_is_shown_closer(rows: list[tables.Row]) -> None:
    drawn = timeline.figure([row for row in rows if row["kind"] != "NVTX range"] * 2)
    assert drawn.axes[1].get_title(loc="left").startswith("the densest 20 pieces of work")


def test_without_work_on_the_gpu_there_is_nothing_to_draw(rows: list[tables.Row]) -> None:
    with pytest.raises(ValueError, match="no work on the GPU"):
        timeline.figure([row for row in rows if row["clock"] == "host"])


@pytest.mark.parametrize(
    ("name", "shown"),
    [("cub::DeviceReduceSingleTileKernel", "DeviceReduceSingleTileKernel"), ("a" * 40, "a" * 27 + "…")],
)
def test_long_names_fit(rows: list[tables.Row], name: str, shown: str) -> None:
    named = [row | {"name": name} if row["kind"] == "kernel" else row for row in rows]
    assert f"10 {shown}" in notes(timeline.figure(named))
