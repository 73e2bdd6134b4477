"""The rooms of scripts/fourways, read from its imports: `python tests/rooms.py` draws book/figures/rooms.svg."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "scripts" / "fourways"

FLOORS = (
    ("kernels", "files", "tables", "stages"),
    ("toolchain", "figures"),
    ("host", "building", "package", "install", "doctor"),
    ("lesson", "sass", "cluster"),
    ("checking",),
    ("timing", "timeline"),
    ("profiling", "linking", "choosing"),
    ("book",),
    ("cli",),
)
"""From the ground up. A room imports from rooms below it, and from their faces alone."""

FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


@dataclass(frozen=True)
class Import:
    """One name that a file takes from the package: from which room, and from which file of it ("" for its face)."""

    file: Path
    room: str
    name: str
    behind: str

    @property
    def by(self) -> str:
        """The room of the importing file."""
        return self.file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def submodules(room: str) -> set[str]:
    """The files behind a room's face."""
    return {path.stem for path in (PACKAGE / room).glob("*.py")} - {"__init__", "__main__"}


def handed_out(room: str) -> set[str]:
    """The names that a room's face hands out."""
    tree = ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }


def imports(file: Path, text: str | None = None) -> Iterator[Import]:
    """All that a file imports from the package, wherever in it; `text` if the file is no Python file."""
    for node in ast.walk(ast.parse(text or file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            dotted = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in dotted:
            package, *rest = name.split(".")
            if package == "fourways" and rest and rest[0] in FLOOR:
                room, *inner = rest
                is_file = inner and inner[0] in submodules(room)
                behind = inner[0] if is_file and (len(inner) > 1 or inner[0] not in handed_out(room)) else ""
                yield Import(file, room, inner[-1] if inner else room, behind)


def package_imports() -> list[Import]:
    """All imports from one file of the package to another."""
    return [found for file in sorted(PACKAGE.rglob("*.py")) for found in imports(file)]


def arrows(found: list[Import]) -> set[tuple[str, str]]:
    """Which room imports which."""
    return {(each.by, each.room) for each in found if each.by in FLOOR and each.by != each.room}


COLUMNS = (
    {"kernels": 1, "files": 2.4, "tables": 4.3, "stages": 5, "toolchain": 2.2, "figures": 3.6}
    | {"install": 0, "building": 2, "package": 3.1, "host": 4.2, "doctor": 5.3, "sass": 1, "lesson": 3, "checking": 3.5}
    | {"cluster": 0, "timing": 2.9, "timeline": 4.8, "profiling": 1, "linking": 2.2, "choosing": 4}
    | {"book": 2.5, "cli": 2.5}
)
"""Where a room is drawn from left to right, so that lines pass beside boxes."""


def plain_arrows() -> set[tuple[str, str]]:
    """The arrows without those that a way over other rooms implies."""
    direct = arrows(package_imports())
    below: dict[str, set[str]] = {}
    for room in FLOOR:  # from the ground up
        below[room] = {other for above, other in direct if above == room}
        below[room] |= {far for near in below[room] for far in below[near]}
    return {(above, low) for above, low in direct if not any(low in below[mid] for up, mid in direct if up == above)}


def svg() -> str:
    """The floors as rows of boxes, the top one first, and a line for each of `plain_arrows`."""
    width, row, wide, high = 720, 70, 100, 30
    places = {room: (64 + 112 * COLUMNS[room], 12 + (len(FLOORS) - 1 - FLOOR[room]) * row) for room in FLOOR}
    parts = []
    for above, below in sorted(plain_arrows()):
        (x0, y0), (x1, y1) = places[above], places[below]
        middle = (y0 + high + y1) / 2
        path = f"M{x0:g},{y0 + high} C{x0:g},{middle:g} {x1:g},{middle:g} {x1:g},{y1}"
        parts.append(f'<path d="{path}" fill="none" stroke="#57606a" stroke-width="1.5"/>')
    for room, (x, y) in places.items():
        shape = f'x="{x - wide / 2:g}" y="{y}" width="{wide}" height="{high}" rx="6"'
        parts.append(f'<rect {shape} fill="#ffffff" stroke="#57606a" stroke-width="1.5"/>')
        parts.append(f'<text x="{x:g}" y="{y + 20}" font-size="14" text-anchor="middle">{room}</text>')
    height = 12 + row * len(FLOORS) - (row - high) + 12
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    background = f'<rect width="{width}" height="{height}" fill="#eef2f6"/>'
    return "\n".join([f'{head} font-family="sans-serif">', background, *parts, "</svg>\n"])


def code(lesson: str) -> str:
    """The code cells of a lesson's text as one program, without IPython's magic lines."""
    cells = re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", lesson, re.DOTALL | re.MULTILINE)
    lines = [line for cell in cells for line in cell.splitlines() if not line.startswith((":", "%", "!"))]
    return "\n".join(lines)


if __name__ == "__main__":
    (ROOT / "book" / "figures" / "rooms.svg").write_text(svg(), encoding="utf-8")
