"""Costs read from files of results, and what they mean."""

import json
from pathlib import Path
from typing import Any

import pytest

from fourways.experiments import choosing
from fourways.experiments.choosing.results import context_bytes, plug_in_seconds

STAMP = {"device": "A GPU", "date": "2026-11-22T00:00:00+00:00"}


def spread(value: float) -> dict[str, float]:
    return {"median": value, "p10": 0.9 * value, "p90": 1.1 * value, "samples": 3}


def first(way: str, state: str, build: float) -> dict[str, Any]:
    stages = {"start": 0.1, "import": 0.2, "context": 0.1, "inputs": 0.5, "build": build, "load": 0.0, "launch": 0.1}
    return {"way": way, "state": state, "stages": stages, "seconds": spread(1.0 + build)}


def launch(way: str, seconds: float) -> dict[str, Any]:
    return {"way": way, "seconds": spread(1e-4), "launch_seconds": spread(seconds)}


TABLES: dict[str, Any] = {
    "first_result": [
        first("nvrtc", "cold", 0.3),
        first("nvrtc", "warm", 0.1),
        first("pybind11", "cold", 8.0),
        first("pybind11", "warm", 0.0),
        first("host", "cold", 2.0),
        first("host", "warm", 0.0),
    ],
    "timing": [
        launch("nvrtc", 5e-6),
        launch("pybind11", 4e-6),
        {"way": "host", "seconds": spread(1e-3)},
        {"way": "device copy", "seconds": spread(1e-4)},
    ],
}
EDITS = [
    {"way": "pybind11", "loop": "fresh process", "seconds": spread(1.75)},
    {"way": "nvrtc", "loop": "fresh process", "seconds": spread(0.9)},
    {"way": "nvrtc", "loop": "running process", "seconds": spread(0.04)},
]


def test_costs_of_the_ways_on_a_gpu(tmp_path: Path) -> None:
    files = [tmp_path / "times.json", tmp_path / "edits.json"]
    for path, tables in zip(files, (TABLES, {"edit_loop": EDITS}), strict=True):
        path.write_text(json.dumps({"stamp": STAMP, "tables": tables}))
    costs = choosing.costs(files[0])
    assert list(costs) == ["nvrtc", "pybind11"], "neither the host way nor the copy"
    nvrtc, binding = costs.values()
    assert nvrtc.start == pytest.approx(0.6) and "inputs" not in nvrtc.stages
    assert (nvrtc.low, nvrtc.high) == pytest.approx((0.9 * 1.1 - 0.5, 1.1 * 1.1 - 0.5))
    assert nvrtc.cold == pytest.approx(0.2) and nvrtc.edit == pytest.approx(0.2) and nvrtc.launch == 5e-6
    assert (nvrtc.launch_low, nvrtc.launch_high) == pytest.approx((4.5e-6, 5.5e-6))
    assert binding.cold == 0 and binding.edit == pytest.approx(8.0), "what is shipped is built"
    assert nvrtc.origin == "A GPU, 2026-11-22"
    edited = choosing.costs(*files)
    assert edited["nvrtc"].edit == 0.04, "in a running process, where there is one"
    assert edited["pybind11"].edit == 1.75, "else a build and a fresh process"


def test_the_book_has_all_four_ways() -> None:
    found = choosing.costs(*choosing.recorded())
    assert set(found) == {"nvrtc", "nvcc", "pycuda", "pybind11"}
    for cost in found.values():
        assert 0.1 < cost.low <= cost.high < 5 and 1e-6 < cost.launch < 1e-4 and cost.edit > 0


def test_a_formula_and_a_context_cost_what_lessons_08_and_04_recorded() -> None:
    source, linked = plug_in_seconds() or (0.0, 0.0)
    assert 0 < linked < source < 10
    assert 2**28 < (context_bytes() or 0) < 2**30
