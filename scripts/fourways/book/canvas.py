"""A small drawing board for SVG: text, boxes and arrows in a light and a dark theme."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

WIDTH = 380
"""Width of every figure in CSS pixels: about what a phone shows without scaling."""

THEMES = {
    "light": {"ink": "#1f2328", "soft": "#57606a", "line": "#6e7781", "box": "#ffffff", "frame": "#eef2f6"},
    "dark": {"ink": "#e6edf3", "soft": "#a9b4c0", "line": "#8b949e", "box": "#1b2027", "frame": "#262d36"},
}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Liberation Sans', Arial, sans-serif"
BOX = 50  # height of a box with two lines
ACCENT = "#D55E00"  # no way's colour: marks the step that compiles, and the event that another stream waits for

Point = tuple[float, float]


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

    def stream(self, x: float, top: float, bottom: float) -> None:
        """A stream: a dashed vertical line, seen where no work is drawn over it."""
        line = self.colour["line"]
        self.elements.append(
            f'<path d="M{x:g},{top:g} V{bottom:g}" stroke="{line}" stroke-width="2" stroke-dasharray="3 4"/>'
        )

    def event(self, points: Sequence[Point], colour: str) -> None:
        """A dot on a stream, the first point, and an arrow to the stream that waits for it."""
        (x, y), *_ = points
        self.elements.append(f'<circle cx="{x:g}" cy="{y:g}" r="4.5" fill="{colour}"/>')
        self.arrow(points, colour)

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


def _rounded(points: Sequence[Point]) -> str:
    path = f"M{points[0][0]:g},{points[0][1]:g}"
    for (x0, y0), (x1, y1), (x2, y2) in zip(points, points[1:], points[2:], strict=False):
        before, after = _towards((x1, y1), (x0, y0), 10), _towards((x1, y1), (x2, y2), 10)
        path += f" L{before[0]:g},{before[1]:g} Q{x1:g},{y1:g} {after[0]:g},{after[1]:g}"
    return path + f" L{points[-1][0]:g},{points[-1][1]:g}"


def _towards(start: Point, end: Point, distance: float) -> Point:
    length = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
    share = min(1.0, distance / length)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
