"""The drawn figures of the book as SVG: the edit loop just in time and ahead of time, and from source to machine code.

`python -m fourways.diagrams` writes them to `book/figures`, each in a light and a dark variant, byte for byte the same
at every run. They are tall and narrow, so that their text stays readable on a phone.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from fourways import kernels
from fourways.figures import COLOURS

WIDTH = 380
"""Width of every figure in CSS pixels: about what a phone shows without scaling."""

THEMES = {
    "light": {"ink": "#1f2328", "soft": "#57606a", "line": "#6e7781", "box": "#ffffff", "frame": "#eef2f6"},
    "dark": {"ink": "#e6edf3", "soft": "#a9b4c0", "line": "#8b949e", "box": "#1b2027", "frame": "#262d36"},
}
ACCENT = "#D55E00"  # no way's colour: marks the step that compiles
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Liberation Sans', Arial, sans-serif"
BOX, GAP = 50, 24  # height of a box with two lines, length of an arrow


Point = tuple[float, float]
Steps = Sequence[tuple[str, str]]


class Canvas:
    """SVG elements in drawing order. All lengths are CSS pixels; `y` grows downwards."""

    def __init__(self, theme: str) -> None:
        self.colour = THEMES[theme]
        self.elements: list[str] = []

    def text(self, x: float, y: float, words: str, size: float = 12.5, colour: str = "ink", style: str = "") -> None:
        """A line of text, centred on `x`, its baseline at `y`. `style` is further SVG attributes."""
        attributes = f'x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{self.colour[colour]}" {style}'.rstrip()
        self.elements.append(f"<text {attributes}>{escape(words)}</text>")

    def rectangle(self, x: float, y: float, width: float, height: float, fill: str, edge: str, radius: int = 8) -> None:
        """A rounded rectangle; `fill` names a theme colour, `edge` is a theme colour or a colour value."""
        stroke = self.colour.get(edge, edge)
        self.elements.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" '
            f'fill="{self.colour[fill]}" stroke="{stroke}" stroke-width="1.5"/>'
        )

    def box(self, x: float, y: float, width: float, title: str, note: str, edge: str = "line") -> None:
        """A step or a form of the program: a bold title over a softer note, `BOX` high."""
        self.rectangle(x, y, width, BOX, "box", edge)
        self.text(x + width / 2, y + 21, title, 14.5, style='font-weight="600"')
        self.text(x + width / 2, y + 39, note, colour="soft")

    def arrow(self, points: Sequence[Point], colour: str = "line") -> None:
        """A line with rounded corners through `points` that ends in a head whose tip is the last point."""
        stroke = self.colour.get(colour, colour)
        *start, (x0, y0), (x1, y1) = dict.fromkeys(points)  # a point given twice is one point
        length = max(abs(x1 - x0), abs(y1 - y0))
        ux, uy = (x1 - x0) / length, (y1 - y0) / length  # every segment is horizontal or vertical
        bx, by = x1 - 8 * ux, y1 - 8 * uy
        path = _rounded([*start, (x0, y0), (bx, by)])
        self.elements.append(f'<path d="{path}" fill="none" stroke="{stroke}" stroke-width="2"/>')
        head = f"{x1:g},{y1:g} {bx - 5 * uy:g},{by - 5 * ux:g} {bx + 5 * uy:g},{by + 5 * ux:g}"
        self.elements.append(f'<polygon points="{head}" fill="{stroke}"/>')

    def svg(self, height: float, title: str, description: str) -> str:
        """The whole document. Text stays text: it can be read aloud, searched and selected."""
        body = "\n  ".join(self.elements)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" '
            f'viewBox="0 0 {WIDTH} {height:g}" role="img" aria-labelledby="title description" '
            f'font-family="{FONT}" text-anchor="middle">\n'
            f'  <title id="title">{escape(title)}</title>\n  <desc id="description">{escape(description)}</desc>\n'
            f"  {body}\n</svg>\n"
        )


def _rounded(points: Sequence[Point], radius: float = 10) -> str:
    path = f"M{points[0][0]:g},{points[0][1]:g}"
    for (x0, y0), (x1, y1), (x2, y2) in zip(points, points[1:], points[2:], strict=False):
        before, after = _towards((x1, y1), (x0, y0), radius), _towards((x1, y1), (x2, y2), radius)
        path += f" L{before[0]:g},{before[1]:g} Q{x1:g},{y1:g} {after[0]:g},{after[1]:g}"
    return path + f" L{points[-1][0]:g},{points[-1][1]:g}"


def _towards(start: Point, end: Point, distance: float) -> Point:
    length = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
    share = min(1.0, distance / length)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _edit_loop(canvas: Canvas, frames: Sequence[tuple[str, Steps]], compiles: str) -> float:
    """A column of steps, framed by where they happen, and the way back to the edit. Returns the height.

    Each frame is (label, steps); one without a label is drawn as bare boxes. `compiles` names the step to mark.
    """
    left, width, y = 14.0, 304.0, 2.0
    middle = left + width / 2
    first = last = 0.0
    for label, steps in frames:
        inset = 12 if label else 0
        top = y
        if label:
            y += 28
            bottom = y + len(steps) * BOX + (len(steps) - 1) * GAP + inset
            canvas.rectangle(left, top, width, bottom - top, "frame", "frame", 10)
            canvas.text(middle, top + 19, label, 12.5, style='font-weight="600"')
        for number, (title, note) in enumerate(steps):
            if number:
                canvas.arrow([(middle, y - GAP), (middle, y)])
            canvas.box(left + inset, y, width - 2 * inset, title, note, ACCENT if title == compiles else "line")
            first, last = first or y + BOX / 2, y + BOX / 2
            y += BOX + GAP
        y += inset - GAP
        if frames[-1][1] is not steps:
            canvas.arrow([(middle, y), (middle, y + GAP)])
            y += GAP
    back = left + width + 26
    end = left + width - (12 if frames[-1][0] else 0)
    canvas.arrow([(end, last), (back, last), (back, first), (left + width, first)])
    turned = f'transform="translate({back + 18:g} {(first + last) / 2:g}) rotate(90)"'
    canvas.text(0, 0, "the next idea", 12.5, "soft", turned)
    return y + 2


def edit_loop_jit(theme: str) -> str:
    """The edit loop just in time: everything after the edit happens inside one running Python process."""
    canvas = Canvas(theme)
    inside = [
        ("Run the cell", "Python hands the text to a compiler"),
        ("Compile", "NVRTC, a library, or nvcc, a program"),
        ("Load", "machine code goes to the GPU"),
        ("Launch", "the kernel runs: new result"),
    ]
    frames = [("", [("Edit", "the kernel's text")]), ("the same Python process goes on", inside)]
    return canvas.svg(
        _edit_loop(canvas, frames, compiles="Compile"),
        "The edit loop, just in time",
        "Edit the kernel's text. Inside the same running Python process: run the cell, compile with NVRTC or nvcc, "
        "load the machine code, launch the kernel and see the new result. Then edit again.",
    )


def edit_loop_aot(theme: str) -> str:
    """The edit loop ahead of time: a build before Python, then a fresh Python process."""
    canvas = Canvas(theme)
    build = [
        ("CMake", "finds out what the edit touches"),
        ("nvcc", "compiles for each architecture"),
        ("Link", "a module that Python can import"),
    ]
    python = [
        ("Start Python again", "an imported module stays as it is"),
        ("import", "the machine code comes with it"),
        ("Call", "the kernel runs: new result"),
    ]
    frames = [
        ("", [("Edit", "the kernel's file")]),
        ("the build, before Python starts", build),
        ("a fresh Python process", python),
    ]
    return canvas.svg(
        _edit_loop(canvas, frames, compiles="nvcc"),
        "The edit loop, ahead of time",
        "Edit the kernel's file. Build: CMake finds out what the edit touches, nvcc compiles for each architecture, "
        "the linker makes a module. Then start a fresh Python process, import the module, call it and see the new "
        "result. Then edit again.",
    )


LANES = (
    ("nvrtc", "CuPy", "NVRTC", "NVRTC"),
    ("nvcc", "CuPy", "NVCC", "nvcc"),
    ("pycuda", "PyCUDA", "NVCC", "nvcc"),
    ("pybind11", "pybind11", "CMake", "nvcc"),
)


def from_source_to_gpu(theme: str) -> str:
    """CUDA C++ to PTX to cubin to GPU, a lane for each way with the tool at every step, and the two side roads."""
    canvas = Canvas(theme)
    centres = [WIDTH / 8 + 4 + index * (WIDTH - 8) / 4 - 2.5 for index in range(4)]
    canvas.text((centres[0] + centres[2]) / 2, 16, "just in time", 12.5, "soft")
    canvas.text(centres[3], 16, "ahead of time", 12.5, "soft")
    for x0, x1 in ((centres[0] - 40, centres[2] + 40), (centres[3] - 40, centres[3] + 40)):
        line = canvas.colour["line"]
        canvas.elements.append(f'<path d="M{x0:g},23 H{x1:g}" stroke="{line}" stroke-width="1.5"/>')
    for x, (way, library, how, _) in zip(centres, LANES, strict=True):
        canvas.rectangle(x - 40, 31, 80, 42, "box", COLOURS[way])
        canvas.text(x, 49, library, 13, style='font-weight="600"')
        canvas.text(x, 65, how, 12, "soft")

    stages = (
        ("CUDA C++", "one text for all ways", [lane[3] for lane in LANES]),
        ("PTX", "assembly for GPUs in general", ["ptxas inside", "ptxas", "ptxas", "ptxas"]),
        ("cubin", "machine code of one architecture", ["driver loads", "driver loads", "driver loads", "in a fatbin"]),
    )
    y = 73.0 + GAP
    for x, lane in zip(centres, LANES, strict=True):
        canvas.arrow([(x, 73), (x, y)], COLOURS[lane[0]])
    for title, note, tools in stages:
        canvas.box(2, y, WIDTH - 4, title, note)
        y += BOX
        for x, lane, tool in zip(centres, LANES, tools, strict=True):
            canvas.arrow([(x, y), (x, y + 66)], COLOURS[lane[0]])
            canvas.rectangle(x - 42, y + 16, 84, 26, "frame", COLOURS[lane[0]], 13)
            canvas.text(x, y + 33.5, tool, 12)
        y += 66
    canvas.box(2, y, WIDTH - 4, "GPU", "the driver launches the kernel")
    y = _side_roads(canvas, y + BOX + 34)
    return canvas.svg(
        y,
        "From source to machine code, in four ways",
        "CUDA C++ becomes PTX by NVRTC in CuPy's NVRTC way and by nvcc in the other three. PTX becomes a cubin by "
        "ptxas, which NVRTC contains and nvcc calls. Just in time, the driver loads the cubin; ahead of time, it lies "
        "in the module's fatbin, from which the driver loads it. Beside these, nvJitLink links PTX, LTO-IR and cubins "
        "into one cubin, and the driver compiles PTX itself where no cubin fits the GPU.",
    )


def _side_roads(canvas: Canvas, y: float) -> float:
    """The two other makers of machine code, as rows: inputs, tool, output. Returns the height used so far."""
    canvas.text(WIDTH / 2, y, "two more that make machine code", 12.5, "soft")
    y += 12
    for inputs, tool, when, result in (
        (["PTX", "LTO-IR", "cubin"], "nvJitLink", "several pieces", "one cubin"),
        (["PTX"], "driver", "no cubin fits", "machine code"),
    ):
        height = max(BOX, 28 * len(inputs) + 6 * (len(inputs) - 1))
        middle = y + height / 2
        for number, name in enumerate(inputs):
            top = middle + 34 * (number - len(inputs) / 2) + 3
            canvas.rectangle(2, top, 72, 28, "box", "line")
            canvas.text(38, top + 18.5, name)
            canvas.arrow([(74, top + 14), (92, top + 14), (92, middle), (124, middle)])
        canvas.rectangle(124, middle - BOX / 2, 106, BOX, "frame", "line", 13)
        canvas.text(177, middle - 4, tool, 13.5, style='font-weight="600"')
        canvas.text(177, middle + 14, when, 12, "soft")
        canvas.arrow([(230, middle), (266, middle)])
        canvas.rectangle(266, middle - 14, WIDTH - 268, 28, "box", "line")
        canvas.text(266 + (WIDTH - 268) / 2, middle + 4.5, result)
        y += height + 16
    return y - 14


FIGURES: dict[str, Callable[[str], str]] = {
    "edit_loop_jit": edit_loop_jit,
    "edit_loop_aot": edit_loop_aot,
    "from_source_to_gpu": from_source_to_gpu,
}
"""Every figure by name: a function from the theme (`light`, `dark`) to the SVG text."""


def draw() -> dict[str, str]:
    """All files of `book/figures` by name: `{"edit_loop_jit_light.svg": "<svg …", …}`."""
    return {f"{name}_{theme}.svg": figure(theme) for name, figure in FIGURES.items() for theme in THEMES}


def main() -> None:
    """Write every figure to `book/figures` and print its path."""
    folder: Path = kernels.root() / "book" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in draw().items():
        temporary = folder / f".{name}"
        temporary.write_text(text, encoding="utf-8")
        print(temporary.replace(folder / name))


if __name__ == "__main__":
    main()
