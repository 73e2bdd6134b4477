"""Rows shown as text, HTML and Rich, carried in notebooks; times and rates in three figures."""

import json
from io import StringIO

import pytest
from rich.console import Console

from fourways import tables

ROWS = [{"way": "nvrtc", "seconds": 1.5e-3}, {"way": "host <i>", "seconds": None}]
COLUMNS = [("way", lambda row: row["way"]), ("time", lambda row: tables.seconds(row["seconds"]))]


@pytest.fixture
def table() -> tables.Table:
    return tables.Table("times", ROWS, COLUMNS, "By the host's clock & no other.")


def test_as_text(table: tables.Table) -> None:
    assert str(table).splitlines() == [
        "way       time",
        "--------  -------",
        "nvrtc     1.50 ms",
        "host <i>",
        "By the host's clock & no other.",
    ]


def test_in_a_notebook(table: tables.Table) -> None:
    bundle = table._repr_mimebundle_()
    assert bundle["text/plain"] == str(table)
    assert "<td>host &lt;i&gt;</td><td></td>" in bundle["text/html"] and "clock &amp; no" in bundle["text/html"]
    assert json.loads(json.dumps(bundle[tables.MIME])) == {"table": "times", "rows": ROWS}


def test_in_a_terminal() -> None:
    """Square brackets are text, not Rich's markup."""
    out = StringIO()
    table = tables.Table("sums", [{"it": "y[i] [red]"}], [("[bold]", lambda row: row["it"])], "a [note]")
    Console(file=out, width=40).print(table)
    assert all(words in out.getvalue() for words in ("[bold]", "y[i] [red]", "a [note]"))


def test_summary() -> None:
    assert tables.summary([4.0, 1.0, 2.0, 3.0, 5.0]) == pytest.approx(
        {"median": 3.0, "p10": 1.4, "p90": 4.6, "samples": 5}
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0.0, "0"),
        (999.6, "1,000 s"),
        (-1034.0, "-1,030 s"),
        (1.234e6, "1.23e+06 s"),
        (1.0, "1.00 s"),
        (123456.0, "123,000 s"),
        (3e-12, "0.00300 ns"),
        (0.00123, "1.23 ms"),
        (9.9999e-4, "1.00 ms"),
        (-0.002, "-2.00 ms"),
    ],
)
def test_seconds(value: float | None, text: str) -> None:
    assert tables.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), (2.5e12, "2.50 TB/s"), (999.6e9, "1.00 TB/s"), (2.5e18, "2,500 PB/s")]
)
def test_rate(value: float | None, text: str) -> None:
    assert tables.rate(value) == text


def test_a_range_of_times_has_its_unit_once() -> None:
    assert tables.seconds_range(259e-6, 261e-6) == "259 – 261 µs"
    assert tables.seconds_range(900e-6, 1.1e-3) == "900 µs – 1.10 ms"
    assert tables.seconds_range(900, 1100) == "900 – 1,100 s"


def test_columns_by_name_know_times_rates_and_truth() -> None:
    row = {"what": "a", "registers": 1200, "cold_seconds": 0.0123, "seconds": tables.summary([1e-6]), "right": True}
    row |= {"bytes_per_second": 2e12, "ratio": 1.2045, "blocks": 1000.4, "loads": ["v2", "v4"], "nothing": None}
    table = tables.Table("by_name", [row])
    assert [name for name, _ in table.columns] == [
        "what", "registers", "cold", "median", "right", "bytes/s", "ratio", "blocks", "loads", "nothing"
    ]  # fmt: skip
    assert table.cells() == [["a", "1,200", "12.3 ms", "1.00 µs", "yes", "2.00 TB/s", "1.20", "1,000", "v2 v4", ""]]
    columns = ["ratio", ("twice", lambda row: "2"), ("all", "blocks")]
    assert tables.Table("few", [row, {}], columns).cells() == [["1.20", "2", "1,000"], ["", "2", ""]]
