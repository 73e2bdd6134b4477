"""The look of every plot: data in, figure out; written whole, the same bytes for the same data."""

from pathlib import Path
from typing import Any

from matplotlib.colors import to_hex

from fourways import figures, tables


def ends(axes: Any) -> list[str]:
    """The texts at the bars' ends."""
    return [text.get_text() for text in axes.texts]


def test_stacked_bars_have_a_panel_each_with_its_own_scale() -> None:
    panels = {
        "cold": {"nvrtc": {"import": 1.0, "build": 2.0}, "host": {"build": 0.5}},
        "warm": {"nvrtc": {"import": 1}},
    }
    drawn = figures.stacked_bars(panels, "seconds", "First results")
    cold, warm = drawn.axes
    assert [axes.get_title(loc="left") for axes in drawn.axes] == ["cold", "warm"]
    assert ends(cold) == ["3.00 s", "0.500 s"] and ends(warm) == ["1.00 s"]
    starts = [[bar.get_x() for bar in bars] for bars in cold.containers]
    assert starts == [[0, 0], [1, 0]], "a stage begins where the one before it ends"
    assert cold.get_xlim()[1] > warm.get_xlim()[1]
    assert [text.get_text() for text in drawn.legends[0].texts] == ["import", "build"]
    assert (drawn.get_suptitle(), warm.get_xlabel()) == ("First results", "seconds")


def test_a_roofline_bends_where_the_roofs_meet() -> None:
    drawn = figures.roofline({"mine": (0.125, 5e11)}, 4e12, {"fp32": 6e13}, "A roofline")
    slope, flat, point = drawn.axes[0].lines
    assert slope.get_xdata()[1] == flat.get_xdata()[0] == 15, "FLOP per byte"
    assert slope.get_ydata()[1] == flat.get_ydata()[0] == 6e13
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (0.125, 5e11)
    assert ends(drawn.axes[0]) == ["DRAM, 4 TB/s", "fp32, 60 TFLOP/s"]


def test_bars_have_their_values_at_their_ends() -> None:
    drawn = figures.bars({"a GPU": {"mine": 2e12, "copy": 4e12}}, tables.rate, {"mine": "#ff0000"}, "Transposing")
    assert ends(drawn.axes[0]) == ["2.00 TB/s", "4.00 TB/s"]
    assert [to_hex(bar.get_facecolor()) for bar in drawn.axes[0].patches] == ["#ff0000", "#777777"]


def test_the_same_data_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        figures.save(figures.bars({"": {"a": 1.0}}, str, {}, "title"), tmp_path / f"{name}.svg")
    one, two = ((tmp_path / f"{name}.svg").read_bytes() for name in ("one", "two"))
    assert one == two and len(one) > 1000


def test_a_figures_words_are_its_alternative_text(tmp_path: Path) -> None:
    panels = {"warm, µs": {"nvrtc": 2.0, "nvcc": 31.0}}
    figure = figures.bars(panels, lambda value: f"{value:.0f} µs", {}, "How long does it take? " * 3)
    figures.save(figure, tmp_path / "a.svg")
    said = figures.description((tmp_path / "a.svg").read_text())
    assert said == f"{('How long does it take? ' * 3).strip()}: warm, µs; nvrtc 2 µs; nvcc 31 µs"
    assert len(figures.description((tmp_path / "a.svg").read_text().replace("nvcc", "long " * 300))) <= 400
