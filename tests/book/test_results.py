"""The results in the book fit their schema, which is strict, and the page on them names every key."""

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fourways import lesson
from fourways.book.results import reference, schema
from fourways.ways import WAYS, is_host

ROOT = Path(__file__).parents[2]
RESULTS = sorted((ROOT / "book" / "results").rglob("*.json"))
SCHEMA = schema()
VALID = jsonschema.Draft202012Validator(SCHEMA)
GPU_WAYS = [way for way in WAYS if not is_host(way)]


def tables_of(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8"))["tables"]


def test_the_schema_is_one() -> None:
    VALID.check_schema(SCHEMA)
    assert len(RESULTS) > 15


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.stem)
def test_recorded_results_fit(file: Path) -> None:
    VALID.validate(json.loads(file.read_text(encoding="utf-8")))


MOST = {"seconds": 1.1, "cold_seconds": 1.1, "graph_seconds": 1.2, "launch_seconds": 2.0}
"""The largest ratio between two recordings of one time: little by the GPU's clock, more by the clocks of two hosts."""


def test_two_tables_that_time_the_same_agree() -> None:
    times: dict[tuple, list[float]] = {}
    for each in lesson.all_lessons():
        for file in RESULTS:
            rows = tables_of(file)["timing"] if file.stem == each.slug and "timing" in tables_of(file) else []
            for row in rows:
                for name in MOST if row["way"] in GPU_WAYS else ():
                    size = row["size"] if name in ("seconds", "cold_seconds") else None
                    if row[name]:
                        key = (file.parent.name, each.meta["kernel"], row["way"], size, name)
                        times.setdefault(key, []).append(row[name]["median"])
    assert sum(len(medians) > 1 for medians in times.values()) > 20
    for key, medians in times.items():
        assert max(medians) <= MOST[key[-1]] * min(medians), (key, medians)


def test_lesson_14_rests_on_lesson_01_as_it_is_recorded() -> None:
    for file in RESULTS:
        if file.stem == "14_choosing":
            first, choosing = tables_of(file.with_name("01_doublify.json")), tables_of(file)
            warm = [row for row in first["first_result"] if row["state"] == "warm"]
            assert choosing["first_result"] == warm, "record lesson 14 again"
            launches = {
                row["way"]: row["launch_seconds"]["median"] for row in first["timing"] if row["way"] in GPU_WAYS
            }
            assert {row["way"]: row["launch_seconds"] for row in choosing["choose"]} == launches


@pytest.fixture
def timed() -> dict[str, Any]:
    """A recorded result with one row."""
    file = next(file for file in RESULTS if file.stem.startswith("01_"))
    found = json.loads(file.read_text(encoding="utf-8"))
    return found | {"tables": {"timing": copy.deepcopy(found["tables"]["timing"][:1])}}


@pytest.mark.parametrize(
    "path, value",
    [
        (("more",), "a key that nobody explained"),
        (("stamp", "more"), "a key that nobody explained"),
        (("tables", "timing", 0, "speed"), 1.0),
        (("tables", "timing", 0, "seconds"), 0.1),
        (("tables", "timing", 0, "clock"), "the wall's"),
        (("tables", "timing", 0, "bytes"), "many"),
        (("tables", "own"), [{"what": "a lesson's", "warm_seconds": "1 ms"}]),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(timed: dict[str, Any], path: tuple, value: Any) -> None:
    VALID.validate(timed)
    *folders, key = path
    place: Any = timed
    for folder in folders:
        place = place[folder]
    place[key] = value
    assert not VALID.is_valid(timed)


def test_a_lesson_s_own_table_may_have_other_keys(timed: dict[str, Any]) -> None:
    times = {"median": 1.0, "p10": 0.5, "p90": 2.0, "samples": 3}
    timed["tables"]["own"] = [{"what": "it", "seconds": times, "of": {"a": 1}}, {"link_seconds": None}]
    VALID.validate(timed)


def test_every_key_is_explained() -> None:
    """In the schema, and so on the page."""
    page = reference()
    for name, part in {"file": SCHEMA, **SCHEMA["$defs"]}.items():
        for key, value in part.get("properties", {}).items():
            assert value.get("description"), f"{name}: {key}"
            assert name == "row" or f"| `{key}` | " in page
    assert "| `seconds` | samples | a call, warm |" in page
    assert "| `driver` | string or null | " in page
