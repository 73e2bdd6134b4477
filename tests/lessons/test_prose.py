"""What checks the prose: numbers without a support."""

import prose_numbers
import pytest

from fourways import kernels, lesson, tables

RECORDED = lesson.rows(kernels.root() / "book" / "recorded" / "06_timing.ipynb")["in_graph"]
COPY = tables.seconds(next(row["seconds"]["median"] for row in RECORDED if row["call"] == "copy"))

OUTPUTS = [
    {"text": "naive: 4.30 ms, copy: 538 µs\n"},
    {"data": {"application/vnd.fourways+json": {"rows": [{"share": 0.97}]}}},
]


@pytest.mark.parametrize(
    "sentence",
    [
        "The naive kernel takes 4.3 ms.",
        "The naive kernel takes 8 times as long (4.30 ms against 538 µs).",
        "The data sheet promises 4.8 TB/s (NVIDIA's data sheet).",
        f"In lesson 06 the copy took {COPY}.",
    ],
)
def test_a_number_with_a_support(sentence: str) -> None:
    assert prose_numbers.unsupported(f"# 00\n\n{sentence}\n", OUTPUTS, []) == []


@pytest.mark.parametrize(
    ("sentence", "number"),
    [
        ("The naive kernel takes 4.4 ms.", "4.4 ms"),
        ("The naive kernel takes 9 times as long (4.30 ms against 538 µs).", "9 times"),
        ("The copy reaches 4.2 TB/s.", "4.2 TB/s"),
        ("The copy takes 538 ms.", "538 ms"),
    ],
)
def test_a_number_without_a_support(sentence: str, number: str) -> None:
    assert prose_numbers.unsupported(f"# 00\n\n{sentence}\n", OUTPUTS, []) == [f"line 3: {number}: {sentence}"]
