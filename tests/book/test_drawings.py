"""The book's drawings and charts: the dark variants are the light ones in other colours, and stand out."""

import re
import runpy
from pathlib import Path

import pytest

from fourways import figures
from fourways.ways import WAYS

FIGURES = Path(__file__).parents[2] / "book" / "figures"
DRAWINGS = sorted(path.name.removesuffix("_light.svg") for path in FIGURES.glob("*_light.svg"))
PAGES = {"light": ("#ffffff", "#ffffff"), "dark": ("#121212", "#1b2027")}
"""The colours of a page and of its boxes."""
LEAST_CONTRAST = 4.5  # for text, by the Web Content Accessibility Guidelines


def luminance(colour: str) -> float:
    """The relative luminance of a colour such as `#1f2328`, as those guidelines define it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", DRAWINGS)
def test_the_dark_drawing_is_made_from_the_light_one(name: str) -> None:
    light, dark = ((FIGURES / f"{name}_{variant}.svg").read_text() for variant in ("light", "dark"))
    script = runpy.run_path(str(FIGURES / "darken.py"))
    assert dark == script["darken"](light), "run book/figures/darken.py"


@pytest.mark.parametrize("name", DRAWINGS)
@pytest.mark.parametrize("variant", PAGES)
def test_texts_stand_out_from_the_page(name: str, variant: str) -> None:
    page, box = PAGES[variant]
    texts = re.findall(r'<text [^>]*fill="(#\w{6})"', (FIGURES / f"{name}_{variant}.svg").read_text())
    assert texts
    for colour in {*texts} - {box}:  # text of the boxes' colour stands on the accent
        darker, lighter = sorted((luminance(colour), luminance(page)))
        assert (lighter + 0.05) / (darker + 0.05) >= LEAST_CONTRAST, colour


def test_colours_of_charts_stand_out_in_the_dark() -> None:
    pytest.importorskip("docutils")
    dark = runpy.run_path(str(FIGURES.parent / "_ext" / "dark_charts.py"))["DARK"]
    for colour in (*figures.STAGE_COLOURS, *(way.colour for way in WAYS.values()), "#333333", "#777777"):
        shown = dark.get(colour.lower(), colour)
        assert (luminance(shown) + 0.05) / (luminance(dark["#ffffff"]) + 0.05) >= 3, colour
