"""Sphinx: a chart that a cell draws gets a variant for dark pages: the same drawing in other colours."""

import re
from pathlib import Path

from docutils import nodes

from fourways.ways import WAYS

TEXT = "#e6edf3"
DARK = {
    **{way.colour.lower(): way.dark_colour.lower() for way in WAYS.values()},
    **{"#ffffff": "#121212", "#000000": TEXT, "#333333": "#c9d1d9", "#777777": "#8b949e"},  # the page, lines, and areas
    **{"#332288": "#8c83e6", "#d55e00": "#f08c3a", "#882255": "#d0598c", "#cc79a7": "#eba3cb", "#999933": "#c2c25a"},
}
"""The colours of light charts, and what becomes of them; the last line is `figures.STAGE_COLOURS`."""


def add_variants(app, doctree):
    """Put an image of the dark variant beside each chart; the theme shows one of the two."""
    for image in list(doctree.findall(nodes.image)):
        light = Path(app.env.relfn2path(image["uri"], app.env.docname)[1])
        if light.parent.name != "jupyter_execute" or light.suffix != ".svg":
            continue
        drawing = light.read_text(encoding="utf-8").replace("</style>", f" text{{fill: {TEXT}}}</style>", 1)
        drawing = re.sub("|".join(DARK), lambda colour: DARK[colour[0]], drawing)  # at once: none is replaced twice
        light.with_stem(f"{light.stem}_dark").write_text(drawing, encoding="utf-8")
        dark = image.deepcopy()
        dark["uri"] = f"{image['uri'].removesuffix('.svg')}_dark.svg"
        width, height = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', drawing).groups()
        for each, theme in ((image, "light"), (dark, "dark")):
            each["classes"].append(f"only-{theme}")
            each["loading"] = "lazy"  # the hidden one is not fetched; the size keeps the place of the other
            each["width"], each["height"] = (str(round(float(length))) for length in (width, height))
        both = nodes.inline(classes=["chart"])  # the theme hides the captions beside a hidden image
        image.parent.replace(image, both)
        both += [image, dark]


def free_sizes(app, pagename, templatename, context, doctree):
    """Make attributes of the styles that docutils writes, so that the book's style sheet decides on the width."""
    if "body" in context:
        sizes = r'style="width: (\d+)px; height: (\d+)px;"'
        context["body"] = re.sub(sizes, r'width="\1" height="\2"', context["body"])


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", free_sizes)
    app.connect("doctree-read", add_variants, priority=400)  # before Sphinx collects images
    return {"parallel_read_safe": True, "parallel_write_safe": True}
