"""The results in the book fit their schema, which is strict, and the page on them names every key."""

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fourways import book
from fourways.book.results import reference

ROOT = Path(__file__).parents[2]
RESULTS = sorted((ROOT / "book" / "results").rglob("*.json"))
SCHEMA = book.results_schema()
VALID = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_one() -> None:
    VALID.check_schema(SCHEMA)
    assert len(RESULTS) > 15


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.stem)
def test_recorded_results_fit(file: Path) -> None:
    VALID.validate(json.loads(file.read_text(encoding="utf-8")))


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
    assert "| `counts` | integer by name | by way and architecture" in page
    assert "| `holds` | list of string | " in page and "| `driver` | string or null | " in page
