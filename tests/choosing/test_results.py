"""Costs read from files of results: what they mean, and a clear error for each file that cannot serve."""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fourways import choosing
from fourways.choosing.results import ResultsError

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

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(tables, stamp) makes a file of results and returns its path."""

    def written(tables: Any = TABLES, stamp: Any = STAMP, name: str = "results.json") -> Path:
        path = tmp_path / name
        path.write_text(json.dumps({"stamp": stamp, "tables": tables}))
        return path

    return written


def test_costs_of_the_ways_on_a_gpu(write: Write) -> None:
    found = choosing.costs(write())
    assert list(found) == ["nvrtc", "pybind11"], "neither the host way nor the copy"
    nvrtc, binding = found.values()
    assert nvrtc.start == pytest.approx(0.6) and "inputs" not in nvrtc.stages
    assert (nvrtc.low, nvrtc.high) == pytest.approx((0.9 * 1.1 - 0.5, 1.1 * 1.1 - 0.5))
    assert nvrtc.cold == pytest.approx(0.2) and nvrtc.edit == pytest.approx(0.2) and nvrtc.launch == 5e-6
    assert (nvrtc.launch_low, nvrtc.launch_high) == pytest.approx((4.5e-6, 5.5e-6))
    assert binding.cold == 0 and binding.edit == pytest.approx(8.0), "what is shipped is built"
    assert nvrtc.origin == "A GPU, 2026-11-22"


def test_an_edit_is_what_lesson_00_measured(write: Write) -> None:
    found = choosing.costs(write(TABLES | {"edit_loop": EDITS}))
    assert found["nvrtc"].edit == 0.04, "in a running process, where there is one"
    assert found["pybind11"].edit == 1.75, "else a build and a fresh process"


def test_several_files_are_one_and_the_later_one_counts(write: Write) -> None:
    starts = write({"first_result": TABLES["first_result"]}, name="first.json")
    launches = write({"timing": [launch("nvrtc", 9e-6)]}, name="launches.json")
    newer = write({"timing": [launch("nvrtc", 7e-6)]}, name="newer.json")
    assert choosing.costs(starts, launches, newer)["nvrtc"].launch == 7e-6
    assert list(choosing.costs(starts, launches)) == ["nvrtc"], "of the other way the launches are missing"


def test_the_book_has_all_four_ways() -> None:
    found = choosing.costs(*choosing.recorded())
    assert set(found) == {"nvrtc", "nvcc", "pycuda", "pybind11"}
    for cost in found.values():
        assert 0.1 < cost.low <= cost.high < 5 and 1e-6 < cost.launch < 1e-4 and cost.edit > 0


def without(table: str, key: str) -> dict[str, Any]:
    tables = copy.deepcopy(TABLES)
    del tables[table][0][key]
    return tables


def changed(table: str, key: str, value: Any) -> dict[str, Any]:
    tables = copy.deepcopy(TABLES)
    tables[table][0][key] = value
    return tables


@pytest.mark.parametrize(
    "tables, said",
    [
        ({}, "no first results in .*results.json: `fourways time 1 --first --json first.json` measures them"),
        ({"timing": TABLES["timing"]}, "no first results"),
        (
            {"first_result": TABLES["first_result"]},
            "no way on a GPU has a cold and a warm first result and its launche",
        ),
        (TABLES | {"first_result": [first("nvrtc", "warm", 0)]}, "no way on a GPU has a cold and a warm first result"),
        (TABLES | {"timing": [launch("pycuda", 1e-6)]}, "`fourways time 1 --first --json first.json` measures them"),
        (TABLES | {"timing": {"nvrtc": 1}}, "`timing` is not a list of rows"),
        (TABLES | {"timing": [1]}, "`timing` is not a list of rows"),
        (without("first_result", "way"), r"a row of `first_result` has no good `way` \(None\)"),
        (without("first_result", "stages"), "`first_result` has no good `stages`"),
        (changed("first_result", "seconds", 1.0), r"no good `seconds` \(1.0\), as this version of Four Ways writes it"),
        (changed("first_result", "stages", {"build": "long"}), "no good `stages`"),
        (changed("timing", "launch_seconds", {"median": -1, "p10": 0, "p90": 0}), "`timing` has no good `launch_seco"),
        (changed("timing", "launch_seconds", {"median": float("nan"), "p10": 0, "p90": 0}), "no good `launch_seconds`"),
        (changed("timing", "launch_seconds", {"median": 1}), "no good `launch_seconds`"),
        (changed("timing", "launch_seconds", spread(1) | {"median": 10**400}), "no good `launch_seconds`"),
        (changed("first_result", "seconds", [[[[[[[[0]]]]]]]] * 99), r"no good `seconds` \(.{0,200}\), as"),
        (changed("first_result", "stages", {"build": 0, "inputs": 1}), "no good `stages`"),
    ],
)
def test_what_is_missing_or_bad_is_said(write: Write, tables: Any, said: str) -> None:
    with pytest.raises(ResultsError, match=said):
        choosing.costs(write(tables))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "1", '{"rows": []}', '{"stamp": {}, "tables": []}', "\xff", "[" * 10**5 + "]" * 10**5]
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ResultsError, match=rf"{re.escape(str(path))} is not (valid JSON|a file of results)"):
        choosing.costs(path)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"nowhere.json cannot be read \(No such file"):
        choosing.costs(tmp_path / "nowhere.json")


def test_files_of_two_machines_do_not_mix(write: Write) -> None:
    one = write(name="one.json")
    other = write(stamp=STAMP | {"device": None}, name="other.json")
    with pytest.raises(ResultsError, match="different machines: A GPU, a machine without a GPU; measure all"):
        choosing.costs(one, other)


@pytest.mark.parametrize("stamp", [{"device": ["A GPU"]}, {"device": "A GPU", "date": {}}, {"device": 1}])
def test_a_stamp_holds_words(write: Write, stamp: dict[str, Any]) -> None:
    with pytest.raises(ResultsError, match="results.json: its `stamp` has no good `(device|date)`"):
        choosing.costs(write(stamp=stamp))


def test_a_clone_without_records_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpp" / "kernels").mkdir(parents=True)
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    with pytest.raises(ResultsError, match="nothing is recorded in this clone's book/results: give files"):
        choosing.recorded()


def test_a_formula_and_a_context_cost_what_lessons_08_and_04_recorded() -> None:
    source, linked = choosing.results.plug_in_seconds() or (0.0, 0.0)
    assert 0 < linked < source < 10
    assert 2**28 < (choosing.results.context_bytes() or 0) < 2**30
