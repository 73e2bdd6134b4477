"""The minutes that a lesson takes, counted from its words, code, cells, outputs, tables, figures and exercises."""

import re
from typing import Any, NamedTuple

from fourways.lesson import recorded
from fourways.lesson.folds import deeper
from fourways.lesson.needs import needs
from fourways.lesson.notebook import Lesson, tags
from fourways.ways import WAYS

WORDS, PYTHON, CPP, CELLS, OUTPUT = 150, 10, 6, 4, 15
"""Words of prose, lines of Python, lines of C++ or CUDA, cells, and lines of output or rows of a table that a reader
manages in a minute. These are our own estimates: people read other prose at 238 words a minute (Brysbaert, 2019), and
prose that explains code more slowly."""
FIGURE, EXERCISE = 0.5, 8
"""Minutes for a figure, and for an exercise with its solution."""
FORMULA = (
    f"A minute is counted for {WORDS} words, {PYTHON} lines of Python, {CPP} lines of C++ or CUDA, {CELLS} cells, or "
    f"{OUTPUT} lines of output or rows of a table. A figure counts half a minute, an exercise {EXERCISE} minutes. "
    'The minutes after "+" are for the optional "Deeper" sections. Folded code does not count.'
)
"""The rule for minutes, as readers of the lessons' table see it."""

_ON_GPU = {"gpu", "two-gpus", *(way.name for way in WAYS.values() if not way.on_host)}


class Length(NamedTuple):
    """The minutes of a lesson: of its core, and of its sections marked "Deeper"."""

    core: int
    deeper: int

    def __str__(self) -> str:
        """Return `45`, or `45 + 20` if sections go deeper."""
        return f"{self.core} + {self.deeper}" if self.deeper else str(self.core)


class Section(NamedTuple):
    """What follows a heading of any level, up to the next heading: its minutes, and whether they are optional.

    `cells` counts its code cells, `gpu_cells` those that are skipped without a GPU.
    """

    heading: str
    minutes: float
    is_deeper: bool
    cells: int = 0
    gpu_cells: int = 0


def length(lesson: Lesson) -> Length:
    """Return the minutes of a lesson, by `FORMULA`, rounded to whole minutes."""
    minutes = [0.0, 0.0]
    for section in sections(lesson):
        minutes[section.is_deeper] += section.minutes
    return Length(*map(round, minutes))


def sections(lesson: Lesson) -> list[Section]:
    """Return the sections of a lesson in order, with their minutes by `FORMULA`.

    Output counts as it was recorded; nothing for a cell that was never recorded, or changed since. Blank lines and
    folded code (solutions, cells tagged `hide-input`, code in a dropdown) do not count.
    """
    found = [Section("", 0.0, False)]
    cells = zip(lesson.notebook.cells, deeper(lesson.notebook), recorded.outputs(lesson), strict=True)
    for cell, is_deeper, outputs in cells:
        if cell.cell_type == "code":
            parts = [("", _code(cell.source, tags(cell), outputs))]
        else:
            parts = _prose(cell.source) if cell.cell_type == "markdown" else []
        for heading, minutes in parts:
            if heading:
                found.append(Section(heading, minutes, is_deeper))
            else:
                found[-1] = found[-1]._replace(minutes=found[-1].minutes + minutes)
        if cell.cell_type == "code" and "solution" not in tags(cell):
            is_on_gpu = bool(_ON_GPU & set(needs(cell)))
            found[-1] = found[-1]._replace(cells=found[-1].cells + 1, gpu_cells=found[-1].gpu_cells + is_on_gpu)
    return [section for section in found if section.heading or section.minutes]


def _code(source: str, its_tags: list[str], outputs: list[Any]) -> float:
    """Return the minutes of a code cell and its outputs."""
    if "solution" in its_tags:
        return 0
    if "exercise" in its_tags:
        return EXERCISE
    minutes = 1 / CELLS + sum(map(_output, outputs))
    if "hide-input" not in its_tags:
        texts = [text for text in re.findall(r'"""(.*?)"""', source, re.DOTALL) if ";\n" in text]
        cpp = sum(map(_lines, texts))
        minutes += cpp / CPP + (_lines(source) - cpp) / PYTHON
    return minutes


def _output(output: Any) -> float:
    data = output.get("data", {})
    if any(kind.startswith("image/") for kind in data):
        return FIGURE
    return _lines(output.get("text") or data.get("text/plain") or "") / OUTPUT


def _prose(source: str) -> list[tuple[str, float]]:
    """Return the parts of a prose cell, each with its heading ("" for text before the first one) and its minutes."""
    parts = [("", 0.0)]
    fence, boxes = "", [""]  # the language of the fenced code around a line; the directives around it
    for line in source.splitlines():
        begins = re.match(r"\s*(?:```+|:::+)(.*)", line)
        heading, minutes = "", 0.0
        if line.lstrip().startswith("```") and begins:
            fence = "" if fence else begins[1].strip() or "text"
            if re.match(r"\{(image|figure)\} (?!.*_dark\.)", fence):  # a drawing has a light and a dark version
                minutes = FIGURE
        elif fence and not fence.startswith("{"):
            if line.strip() and "{dropdown}" not in boxes:
                minutes = 1 / (CPP if fence in ("cuda", "cpp", "c++", "c") else PYTHON)
        elif begins:
            boxes.append(begins[1].split()[0]) if begins[1].strip() else boxes.pop()
            minutes = _words(begins[1].partition("}")[2])
        elif line.lstrip().startswith("|"):
            minutes = 0 if set(line) <= set("|-: ") else 1 / OUTPUT
        elif not re.match(r":[\w-]+:", line):  # an option of a directive
            heading = (re.findall(r"^#+ (.+)", line) or [""])[0]
            minutes = _words(line) + FIGURE * line.count("![")
        if heading:
            parts.append((heading, minutes))
        else:
            parts[-1] = (parts[-1][0], parts[-1][1] + minutes)
    return parts


def _words(text: str) -> float:
    return len(re.findall(r"\w[\w'-]*", re.sub(r"\]\([^)]*\)|\{cite\}`[^`]*`", "]", text))) / WORDS


def _lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())
