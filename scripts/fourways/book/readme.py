"""The generated parts of the README: figure and tables, from lessons and recorded runs."""

import re
import sys

from fourways import files, kernels
from fourways.book import course, overview


def main() -> None:
    """Write the figure to `book/figures`, and figure and tables into README.md. Exits with a message if it cannot."""
    path = kernels.root() / "README.md"
    try:
        shown = overview.panels(overview.recorded())
    except FileNotFoundError as error:
        sys.exit(str(error))
    text = path.read_text(encoding="utf-8")
    parts = {"figure": _picture(shown), "lessons": f"{course.lessons()}\n{course.routes()}"}
    for name, part in parts.items():
        marks = re.search(rf"<!-- {name}:.*?-->\n().*?()<!-- /{name} -->", text, re.DOTALL)
        assert marks, f"README.md has no marks `<!-- {name}: … -->` and `<!-- /{name} -->`"
        text = text[: marks.start(1)] + part + text[marks.start(2) :]
    overview.save(shown, kernels.root() / "book" / "figures")
    files.write_text(path, text)


def _picture(shown: list[overview.Panel]) -> str:
    file = "book/figures/overview_{}_{}.svg"
    return f"""**{overview.conclusion(shown)}**

<picture>
<source media="(prefers-color-scheme: dark)" srcset="{file.format("dark", "wide")}">
<img src="{file.format("light", "wide")}" alt="{overview.description(shown)}"></picture>

{overview.NOTE}
"""


if __name__ == "__main__":
    main()
