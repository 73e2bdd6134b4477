"""The timer: what it reports, and that it refuses to time a wrong answer. Device clocks are tested in tests/gpu."""

import subprocess
import sys
import time

import numpy as np
import pytest

from fourways import checking, first_result, lesson, tables, timing, toolchain


def ways_of(function) -> lesson.Ways:
    return lesson.Ways(
        "doublify", lambda size: (np.ones(size, np.float32),), lambda x: 2 * x, {"host": function}, {"nvrtc": "no GPU"}
    )


def test_host_clock_measures_seconds() -> None:
    samples = timing.host_seconds(lambda: time.sleep(0.02))
    assert len(samples) >= 5
    assert 0.02 <= timing.summary(samples)["median"] < 0.2


def test_row_holds_bytes_and_rate() -> None:
    row, *_ = timing.compare(ways_of(lambda x, y: np.multiply(x, 2, out=y)), size=1000).rows
    assert (row["way"], row["size"], row["clock"], row["bytes"]) == ("host", 1000, "host", 8000)
    assert row["bytes_per_second"] == pytest.approx(8000 / row["seconds"]["median"])
    assert row["seconds"]["p10"] <= row["seconds"]["median"] <= row["seconds"]["p90"]


def test_a_wrong_answer_is_not_timed() -> None:
    with pytest.raises(checking.CheckFailure, match="a wrong answer is not timed"):
        timing.compare(ways_of(lambda x, y: np.multiply(x, 3, out=y)), size=10)


@pytest.mark.parametrize(
    "text, sizes",
    [
        ("1000", [1000]),
        ("2^20", [2**20]),
        ("2**3, 5", [8, 5]),
        ("2^10:2^13", [1024, 2048, 4096, 8192]),
        ("3:13", [3, 6, 12]),
    ],
)
def test_sizes(text: str, sizes: list[int]) -> None:
    assert timing.parse_sizes(text) == sizes


@pytest.mark.parametrize("text", ["", "0", "-1", "2^10:2^9", "1:2:3", "big", "2^10:", "1.5", "9^999999999"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="is no size; wanted"):
        timing.parse_sizes(text)


@pytest.mark.parametrize("text", ["2^41", "2^10:2^60", "9^99"])
def test_sizes_that_no_memory_holds(text: str) -> None:
    with pytest.raises(ValueError, match="no memory holds"):
        timing.parse_sizes(text)


def test_more_than_a_gpu_holds_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = toolchain.Gpu("A GPU", "9.0", "sm_90", memory_bytes=8000)
    gpu.require_room(1000)
    with pytest.raises(MemoryError, match="two arrays of 1,001 floats take 8,008 bytes; A GPU has 8,000"):
        gpu.require_room(1001)
    monkeypatch.setattr(toolchain, "gpus", lambda: [gpu])
    (row,) = timing.time_sizes(lesson.Ways("k", pytest.fail, pytest.fail, {}, {}), [1001])
    assert row["skipped"].startswith("not timed from here on: two arrays")


def test_ways_of_one_size_share_their_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    ways = ways_of(print)
    ways.functions, ways.missing = {"host": print, "nvrtc": print, "nvcc": print}, {}
    ways.make_inputs = lambda size: made.append(size) or (np.ones(size, np.float32),)
    monkeypatch.setattr(timing, "HOST_SIZE", 10)
    monkeypatch.setattr(timing, "GPU_SIZE", 20)
    monkeypatch.setattr(timing, "time_way", lambda ways, way, size, case: {"way": way, "bytes": case[1].nbytes})
    monkeypatch.setattr(timing, "table", lambda rows, note: rows)
    assert [row["bytes"] for row in timing.compare(ways)][:3] == [40, 80, 80]
    assert made == [10, 20]


def test_every_way_at_every_size_and_the_first_that_does_not_fit() -> None:
    def inputs(size: int) -> tuple:
        if size > 100:
            raise MemoryError(f"no room for {size}")
        return (np.ones(size, np.float32),)

    ways = ways_of(lambda x, y: np.multiply(x, 2, out=y))
    ways.make_inputs = inputs
    heard: list[str] = []
    rows = timing.time_sizes(ways, [10, 100, 1000, 10_000], heard.append)
    assert [row["size"] for row in rows] == [10, 100, 1000]
    assert heard == ["10 elements", "host, 10 elements", "100 elements", "host, 100 elements", "1,000 elements"]
    table = timing.table(rows)
    assert [row["size"] for row in table.rows] == [10, 100] and "no room for 1000" in table.note
    assert "cold L2" not in str(table), "a column without content is left out"
    assert len(timing.figure(rows, "t").axes[0].lines) == 1
    assert len(timing.figure(rows[:1], "t").axes[0].patches) == 1, "one size: a bar"


def row(way: str, size: int, p10: float, p90: float, mhz: tuple[float, float] = (1980, 1980)) -> tables.Row:
    return {"way": way, "size": size, "seconds": {"p10": p10, "median": p10, "p90": p90}, "mhz": mhz}


def test_warnings_name_a_wide_spread_and_a_moving_clock() -> None:
    assert timing.warnings([row("nvrtc", 10, 100e-6, 105e-6), row("nvrtc", 20, 2e-6, 2.4e-6)]) == []
    (wide,) = timing.warnings([row("nvrtc", 10, 100e-6, 105e-6), row("nvrtc", 20, 100e-6, 130e-6)])
    assert "nvrtc: at 1 of 2 sizes" in wide and "20 elements (100 µs, 130 µs)" in wide
    (moved,) = timing.warnings([row("nvcc", 10, 1e-4, 1e-4), row("nvcc", 20, 1e-4, 1e-4, (1700, 1980))])
    assert moved == "nvcc: the GPU's clock moved between 1700 and 1980 MHz"


def test_the_binding_is_built_once_and_counts_in_every_cold_run(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    monkeypatch.setattr(first_result, "build_binding", lambda kernel, folder: built.append(kernel) or 5.0)
    monkeypatch.setattr(first_result, "run", lambda *_: {"import": 1.0, "build": 0.5})
    cold, warm = first_result.first_results(lesson.find("01"), ["pybind11"])
    assert built == ["doublify"]
    assert (cold["seconds"]["p10"], cold["seconds"]["p90"], warm["seconds"]["median"]) == (6.5, 6.5, 1.5)


def test_first_result_in_a_fresh_process_cold_then_warm() -> None:
    cold, warm = first_result.first_results(lesson.find("01"), ["host"], cold=1, warm=1)
    assert (cold["state"], warm["state"]) == ("cold", "warm")
    assert list(cold["stages"]) == list(first_result.STAGES)
    assert cold["stages"]["build"] > warm["stages"]["build"] > 0, "the second process finds the first one's build"
    assert cold["stages"]["import"] > 0.05, "NumPy and CuPy are imported"
    assert cold["seconds"]["median"] == pytest.approx(sum(cold["stages"].values()))


def test_first_result_checks_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    found = lesson.find("01")
    cells = type(found).cells
    monkeypatch.setattr(type(found), "cells", lambda self, tag: [s.replace("2 * x", "3 * x") for s in cells(self, tag)])
    with pytest.raises(first_result.FirstResultError, match="host: 15 elements are wrong"):  # 0 stays 0
        first_result.run(found, "host", {}, size=15)


def test_binding_builds_from_a_copy_and_rebuilds_an_edit(tmp_path, root) -> None:
    """What lesson 00 does on its workbench: copy, build, edit, build again."""
    import shutil

    shutil.copytree(root / "cpp", tmp_path / "cpp")
    shutil.copy(root / "pyproject.toml", tmp_path)
    build = tmp_path / "build"
    cold = first_result.build_binding("doublify", build, tmp_path / "cpp")
    (module,) = build.glob("fourways_aot*.so")
    before = module.read_bytes()
    kernel = tmp_path / "cpp" / "kernels" / "doublify.cuh"
    kernel.write_text(kernel.read_text().replace("#define FACTOR 2", "#define FACTOR 3"))
    again = first_result.build_binding("doublify", build, tmp_path / "cpp")
    assert module.read_bytes() != before
    assert 0 < again < cold, "the second build need not configure"
    code = f"from fourways._first_process import prefer; prefer({str(build)!r})\n"
    code += "import fourways_aot; print(fourways_aot.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=lesson.process_environment(), check=True
    )
    assert done.stdout.strip() == str(module), "the fresh process imports this one, not the installed one"
    with pytest.raises(first_result.FirstResultError, match="error"):
        kernel.write_text("this is no C++")
        first_result.build_binding("doublify", build, tmp_path / "cpp")


@pytest.mark.parametrize(
    "value, text",
    [
        (2.5, "2.50 s"),
        (0.26e-3, "260 µs"),
        (12.3456, "12.3 s"),
        (4.4e-6, "4.40 µs"),
        (3e-9, "3.00 ns"),
        (999.6e-9, "1.00 µs"),
        (999.4e-9, "999 ns"),
        (0, "0"),
        (None, ""),
    ],
)
def test_seconds(value: float | None, text: str) -> None:
    assert tables.seconds(value) == text


def test_rate() -> None:
    assert [tables.rate(value) for value in (1.03e15, 2.06e12, 13.6e9, 5e6, None)] == [
        "1.03 PB/s",
        "2.06 TB/s",
        "13.6 GB/s",
        "5.00 MB/s",
        "",
    ]


def test_table_escapes_html_and_carries_its_rows() -> None:
    table = tables.Table("t", [{"a": "<b>"}], [("x<y", lambda row: row["a"])], note="a & b")
    bundle = table._repr_mimebundle_()
    assert "&lt;b&gt;" in bundle["text/html"] and "x&lt;y" in bundle["text/html"] and "a &amp; b" in bundle["text/html"]
    assert bundle[tables.MIME] == {"table": "t", "rows": [{"a": "<b>"}]}
    assert str(table) == "x<y\n---\n<b>\na & b"


def test_table_on_a_terminal_takes_no_cell_for_markup() -> None:
    from rich.console import Console

    console = Console(width=80)
    with console.capture() as shown:
        console.print(tables.Table("t", [{"a": "y[i] = [bold]"}], [("x", lambda row: row["a"])], note="[red]"))
    assert "y[i] = [bold]" in shown.get() and "[red]" in shown.get()
