"""What the recorded lessons 09 to 14 were meant to reach on an H200: a recording that misses it is looked at again."""

import json
from pathlib import Path
from typing import Any


def rows(root: Path, slug: str, table: str) -> list[dict[str, Any]]:
    results = root / "book" / "results" / "nvidia-h200" / f"{slug}.json"
    return json.loads(results.read_text(encoding="utf-8"))["tables"][table]


def test_streams_overlap_to_nine_tenths_of_the_bound(root: Path) -> None:
    shares: dict[str, float] = {}
    for row in rows(root, "11_streams", "overlap"):
        way = row["what"].split(",")[0]
        shares[way] = max(shares.get(way, 0), row["bound_seconds"] / row["seconds"]["median"])
    assert set(shares) == {"nvrtc", "nvcc", "pycuda", "pybind11"} and min(shares.values()) >= 0.9, shares


def test_a_broadcast_cubin_is_five_times_cheaper_than_a_storm(root: Path) -> None:
    cpu = {row["plan"]: row["cpu_seconds"] for row in rows(root, "13_shipping", "storm")}
    assert cpu["each its own empty cache"] >= 5 * cpu["one builds, broadcast"]
    assert cpu["each by nvcc"] >= 5 * cpu["one by nvcc, broadcast"]


def test_a_large_plate_scales(root: Path) -> None:
    large = [row for row in rows(root, "13_shipping", "scaling") if row["side"] == 16384]
    best = {gpus: max(row["speedup"] for row in large if row["gpus"] == gpus) for gpus in (2, 4)}
    assert best[2] >= 1.95 and best[4] >= 3.7, best


def test_the_model_is_within_15_percent(root: Path) -> None:
    errors = {(row["way"], row["launches"]): row["error"] for row in rows(root, "14_choosing", "held_out")}
    assert {way for way, _ in errors} == {"nvrtc", "nvcc", "pycuda", "pybind11"}
    assert max(map(abs, errors.values())) <= 0.15, errors
