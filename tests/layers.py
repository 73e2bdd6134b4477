"""The packages of scripts/fourways, read from its imports: `python tests/layers.py` draws book/figures/packages.svg."""

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOT_PACKAGE = ROOT / "scripts" / "fourways"

LAYERS = (
    ("kernels", "files", "tables", "stages", "process"),
    ("toolchain", "figures", "arguments"),
    ("building", "host", "install", "doctor"),
    ("package",),
    ("ways",),
    ("case", "sass"),
    ("lesson", "checking"),
    ("timing", "timeline"),
    ("profiling", "linking", "choosing"),
    ("experiments",),
    ("book",),
    ("cli",),
)
"""From the lowest up. A package imports from layers below its own, and public names alone."""

LAYER = {package: number for number, packages in enumerate(LAYERS) for package in packages}


@dataclass(frozen=True)
class Import:
    """One name that a file imports: from which package, and from which module of it ("" where the name is public)."""

    file: Path
    package: str
    name: str
    inner: str

    @property
    def by(self) -> str:
        """The package of the importing file."""
        return self.file.relative_to(ROOT_PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def modules(package: str) -> set[str]:
    """The modules of a package, and its packages."""
    inside = [*(ROOT_PACKAGE / package).glob("*.py"), *(ROOT_PACKAGE / package).glob("*/")]
    return {path.stem for path in inside} - {"__init__", "__main__", "__pycache__"}


@functools.cache
def public_names(package: str) -> set[str]:
    """The names that a package exports. Of `experiments` each module is one, and no other package imports its names."""
    if package == "experiments":
        return modules(package)
    tree = ast.parse((ROOT_PACKAGE / package / "__init__.py").read_text(encoding="utf-8"))
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
            root, *rest = name.split(".")
            if root == "fourways" and rest and rest[0] in LAYER:
                package, *path = rest
                is_module = path and path[0] in modules(package)
                inner = path[0] if is_module and (len(path) > 1 or path[0] not in public_names(package)) else ""
                yield Import(file, package, path[-1] if path else package, inner)


def files() -> list[Path]:
    """All modules of the package."""
    return sorted(ROOT_PACKAGE.rglob("*.py"))


@functools.cache
def package_imports() -> list[Import]:
    """All imports from one file of the package to another."""
    return [found for file in files() for found in imports(file)]


def arrows(found: list[Import]) -> set[tuple[str, str]]:
    """Which package imports which."""
    return {(each.by, each.package) for each in found if each.by in LAYER and each.by != each.package}


COLUMNS = (
    {
        "kernels": 1,
        "files": 2.4,
        "tables": 4.3,
        "stages": 5.3,
        "process": 0,
        "toolchain": 2.2,
        "figures": 3.6,
        "arguments": 5.2,
    }
    | {"install": 0, "building": 1, "package": 2.6, "host": 4.2, "doctor": 5.3, "ways": 3, "case": 3, "sass": 1}
    | {"lesson": 2.6, "checking": 4.2, "timing": 2.9, "timeline": 4.8, "profiling": 1, "linking": 2.6, "choosing": 4.4}
    | {"experiments": 3.6, "book": 2.5, "cli": 2.5}
)
"""Where a package is drawn from left to right, so that lines pass beside boxes."""


def plain_arrows() -> set[tuple[str, str]]:
    """The arrows without those that a way over other packages implies."""
    direct = arrows(package_imports())
    below: dict[str, set[str]] = {}
    for package in LAYER:  # from the lowest up
        below[package] = {other for above, other in direct if above == package}
        below[package] |= {far for near in below[package] for far in below[near]}
    return {(above, low) for above, low in direct if not any(low in below[mid] for up, mid in direct if up == above)}


def svg() -> str:
    """The layers as rows of boxes, the top one first, and a line for each of `plain_arrows`."""
    width, row, wide, high = 720, 70, 100, 30
    places = {
        package: (64 + 112 * COLUMNS[package], 12 + (len(LAYERS) - 1 - LAYER[package]) * row) for package in LAYER
    }
    parts = []
    for above, below in sorted(plain_arrows()):
        (x0, y0), (x1, y1) = places[above], places[below]
        middle = (y0 + high + y1) / 2
        path = f"M{x0:g},{y0 + high} C{x0:g},{middle:g} {x1:g},{middle:g} {x1:g},{y1}"
        parts.append(f'<path d="{path}" fill="none" stroke="#57606a" stroke-width="1.5"/>')
    for package, (x, y) in places.items():
        shape = f'x="{x - wide / 2:g}" y="{y}" width="{wide}" height="{high}" rx="6"'
        parts.append(f'<rect {shape} fill="#ffffff" stroke="#57606a" stroke-width="1.5"/>')
        parts.append(f'<text x="{x:g}" y="{y + 20}" font-size="14" text-anchor="middle">{package}</text>')
    height = 12 + row * len(LAYERS) - (row - high) + 12
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    background = f'<rect width="{width}" height="{height}" fill="#eef2f6"/>'
    return "\n".join([f'{head} font-family="sans-serif">', background, *parts, "</svg>\n"])


def code(lesson: str) -> str:
    """The code cells of a lesson's text as one program, without IPython's magic lines."""
    cells = re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", lesson, re.DOTALL | re.MULTILINE)
    lines = [line for cell in cells for line in cell.splitlines() if not line.startswith((":", "%", "!"))]
    return "\n".join(lines)


if __name__ == "__main__":
    (ROOT / "book" / "figures" / "packages.svg").write_text(svg(), encoding="utf-8")
