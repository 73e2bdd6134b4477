"""What the text of a lesson shows and folds: included files, sections that go deeper.

A `{literalinclude}` directive becomes a block of code in the book and in notebooks. A section whose heading begins with
`Deeper` ends before the next heading of its level or above. Both headings begin a cell.
"""

import ast
import re
from pathlib import Path
from typing import Any, NamedTuple

from fourways import kernels
from fourways.lesson.notebook import Lesson, LessonError

_DIRECTIVE = re.compile(r"^(`{3,}|:{3,})\{literalinclude\} *(\S+)\n((?::[\w-]+:.*\n)*)\1$", re.MULTILINE)
_LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".h": "cuda", ".hpp": "cpp", ".cpp": "cpp"}
_LANGUAGES |= {".py": "python", ".toml": "toml"}

_HEADING = re.compile(r"(#{2,}) (.+)")


class Included(NamedTuple):
    """A file that a page shows, whole, or the function or class `name` in it; and the text that is shown."""

    path: Path
    name: str | None
    text: str


def included(lesson: Lesson, text: str) -> list[Included]:
    """Return what the directives in a text of the lesson include, in order. Raises LessonError if it is not there."""
    return [_included(lesson, match) for match in _DIRECTIVE.finditer(text)]


def with_files(lesson: Lesson, text: str) -> str:
    """Return a text of the lesson with blocks of code in place of its directives."""

    def block(match: re.Match[str]) -> str:
        shown = _included(lesson, match)
        language = "cmake" if shown.path.name == "CMakeLists.txt" else _LANGUAGES.get(shown.path.suffix, "text")
        return f"```{language}\n{shown.text.rstrip()}\n```"

    return _DIRECTIVE.sub(block, text)


def _included(lesson: Lesson, match: re.Match[str]) -> Included:
    path = (lesson.path.parent / match[2]).resolve()
    if not path.is_file() or not path.is_relative_to(kernels.root()):
        raise LessonError(f"{lesson.path.name}: there is no file {match[2]} to include")
    text = path.read_text(encoding="utf-8")
    options = dict(re.findall(r'^:([\w-]+): *"?(.*?)"?$', match[3], re.MULTILINE))
    for option in ("start-at", "end-before"):
        if options.get(option, "") not in text:
            raise LessonError(f"{lesson.path.name}: {match[2]} has no line with {options[option]!r}")
    text = text[text.index(options.get("start-at", "")) :]
    text = text[: text.index(options["end-before"])] if "end-before" in options else text
    if not (name := options.get("pyobject")):
        return Included(path, None, text)
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            return Included(path, name, "\n".join(text.splitlines()[first - 1 : node.end_lineno]))
    raise LessonError(f"{lesson.path.name}: {match[2]} has no function or class {name}")


def deeper(notebook: Any) -> list[bool]:
    """Return for each cell of a notebook whether it belongs to a section that goes deeper."""
    level, folded = 0, []
    for cell in notebook.cells:
        heading = _HEADING.match(cell.source) if cell.cell_type == "markdown" else None
        if heading and (not level or len(heading[1]) <= level):
            level = len(heading[1]) if heading[2].startswith("Deeper") else 0
        folded.append(bool(level))
    return folded
