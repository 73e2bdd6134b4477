"""Templates, and lists that are wrapped as a formatter would."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from string import Template

WIDTH = 88


class _Template(Template):
    delimiter = "§"  # neither Python, C++, CMake nor Markdown has one


def fill(template: str, **parts: str) -> str:
    """The text of a template of the folder `templates`, its `§{part}` replaced."""
    text = (Path(__file__).parent / "templates" / f"{template}.in").read_text(encoding="utf-8")
    return _Template(text).substitute(parts)


def wrapped(before: str, items: Sequence[str], after: str) -> str:
    """`before`, the items, `after`: on one line, or the items on a line of their own, or each on one."""
    indent = before[: len(before) - len(before.lstrip())]
    flat = ", ".join(items)
    if len(before + flat + after) <= WIDTH or not items:
        return before + flat + after
    if len(indent) + 4 + len(flat) <= WIDTH:
        return f"{before}\n{indent}    {flat}\n{indent}{after}"
    return "\n".join([before, *(f"{indent}    {item}," for item in items), indent + after])


def paragraph(text: str, indent: str = "") -> str:
    """Prose in lines of at most WIDTH."""
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
