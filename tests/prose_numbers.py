"""Finds numbers in a lesson's prose that no recorded output, no given and no source supports.

A number with a unit must stand in the lesson's recorded outputs within rounding, be given in its code, follow from two
numbers of its own paragraph, or carry its source in its sentence. Numbers in the tables of lessons that the paragraph
names count as outputs.
"""

import ast
import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import cell_python

from fourways import lesson, tables

ROOT = Path(__file__).parents[1]
SIZES = {
    "B": 1.0,
    "KB": 1e3,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
}
UNITS = {"s": ("s", 1.0), "ms": ("s", 1e-3), "µs": ("s", 1e-6), "μs": ("s", 1e-6), "ns": ("s", 1e-9)}
UNITS |= {unit: ("B", size) for unit, size in SIZES.items()}
UNITS |= {f"{unit}/s": ("B/s", size) for unit, size in SIZES.items()}
UNITS |= {"%": ("1", 0.01), "percent": ("1", 0.01), "times": ("1", 1.0), "×": ("1", 1.0)}
"""Of each unit: its dimension, and its size in s, B, B/s or 1."""
NUMBER = r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
UNIT = rf"(?:{'|'.join(sorted(map(re.escape, UNITS), key=len, reverse=True))})"
QUANTITY = re.compile(rf"({NUMBER}(?:(?:, | to | and | or | ?– ?|-){NUMBER})*)\s?({UNIT})(?![\w/²])(?! ?× ?\d)")
SOURCE = re.compile(r"\{cite\}|\]\(https?:|data sheet|`[\w./-]+\.(?:py|md|cuh?|hpp|cpp)`")
ROUGHLY = r"(?:about|nearly|almost|roughly|around|within|below|under|over|above|least|most|than|to|beyond)(?: the)? ?$"
SPANS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}
BOXES = re.compile(r"\} The bet")
"""Boxes whose numbers are choices, some of them wrong."""
SKIPPED = ("{code-cell}", "{image}", "{figure}", "{include}", "{bibliography}", "{tableofcontents}")
"""Blocks that hold no prose."""


class Sentence(NamedTuple):
    """A sentence of a Markdown file: its line, the number of its paragraph, the boxes around it, its Markdown."""

    line: int
    paragraph: int
    boxes: str
    text: str


def paragraphs(markdown: str) -> Iterator[tuple[int, str, str]]:
    """Yield the first line's number, the boxes around, and the lines of each paragraph, list item and table row."""
    lines = markdown.splitlines()
    skip = lines.index("---", 1) + 1 if lines[:1] == ["---"] else 0
    fence, boxes, part, begin = "", [""], [], 0
    for number, line in enumerate([*lines, ""], 1):
        mark = re.match(r"\s*(```+|:::+)(.*)", line)
        starts = re.match(r"\s*(?:[-*+] |\d+\. |\|)|#", line)
        if part and (mark or starts or fence or not line.strip()):
            yield begin, " ".join(boxes).strip(), "\n".join(part)
            part = []
        if number <= skip:
            continue
        if mark and mark[1].startswith("```"):
            fence = "" if fence else mark[2].strip() or "text"
            if fence.startswith("{") and not fence.startswith(SKIPPED):  # a box, written with backticks
                boxes, fence = [*boxes, f"```{fence}"], ""
            elif not mark[2].strip() and boxes[-1].startswith("```"):
                boxes, fence = boxes[:-1], ""
        elif mark and not fence:
            boxes = [*boxes, mark[2].strip()] if mark[2].strip() else boxes[:-1]
        elif re.match(r":[\w-]+:", line):
            boxes[-1] += f" {line}"
        elif line.strip() and not fence and not re.fullmatch(r"[-| :+]+|%.*|\(.*\)=|<!--.*", line):
            begin = begin if part else number
            part.append(line)


def sentences(markdown: str) -> list[Sentence]:
    """Return the sentences of a Markdown file, the items of its lists and the rows of its tables."""
    found = []
    for number, (line, boxes, text) in enumerate(paragraphs(markdown)):
        ends = [match.end() for match in re.finditer(r"(?<!e\.g)(?<!i\.e)(?<! cf)(?<! vs)[.?!][*_)\"”’]*(?=\s)", text)]
        for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
            if sentence := text[start:end].strip():
                above = text[: start + len(text[start:end]) - len(text[start:end].lstrip())].count("\n")
                found.append(Sentence(line + above, number, boxes, sentence))
    return found


class Quantity(NamedTuple):
    """A number in s, B, B/s or 1 (`dimension`), half a unit of its last digit, and how it is written."""

    value: float
    half: float
    dimension: str
    written: str = ""


def quantities(text: str) -> Iterator[Quantity]:
    """Yield the numbers with a unit in a text. All of `5.5 to 6.4 µs` share the unit; `about` widens a number."""
    for match in QUANTITY.finditer(text):
        dimension, size = UNITS[match[2]]
        for digits in re.finditer(NUMBER, match[1]):
            number = float(digits[0].replace(",", "").rstrip("."))
            decimals = len(digits[0].partition("e")[0].partition(".")[2])
            half = 0.5 * 10.0**-decimals
            if re.search(ROUGHLY, text[: match.start() + digits.start()].rstrip() + " "):
                half = max(half, 0.1 * number)
            yield Quantity(number * size, half * size, dimension, f"{digits[0]} {match[2]}")


def printed(outputs: Iterable[Any]) -> Iterator[Quantity]:
    """Yield the numbers of a cell's outputs: those with a unit in their texts, and those of tables' rows.

    A number without a unit counts as a ratio if it has a decimal point, and in a unit that stands alone in the text.
    """
    for output in outputs:
        data = output.get("data", {})
        text = output.get("text") or ("" if "image/svg+xml" in data else data.get("text/plain")) or ""
        yield from quantities(text)
        alone = re.findall(rf"(?<![\w%])(?<!\d )({UNIT})(?![\w/])", text)
        for digits in re.findall(rf"{NUMBER}(?!\s?{UNIT}\b)(?!\w)", text):
            number = float(digits.replace(",", ""))
            yield from [Quantity(number, 0, "1")] * ("." in digits)
            yield from (Quantity(number * UNITS[unit][1], 0, UNITS[unit][0]) for unit in {*alone} - {"times", "×"})
        yield from rows(data.get(tables.MIME, {}))


def rows(content: Any, key: str = "") -> Iterator[Quantity]:
    """Yield the numbers of results as JSON. Their keys tell seconds and bytes; other fractions are ratios."""
    if isinstance(content, dict):
        for name, part in content.items():
            yield from rows(part, name if re.search("seconds|bytes|stages", name) else key)
    elif isinstance(content, list):
        for part in content:
            yield from rows(part, key)
    elif isinstance(content, int | float) and not isinstance(content, bool):
        names = {"bytes_per_second": "B/s", "bytes": "B"}
        dimension = names.get(key) or ("s" if key else "1")
        if dimension != "1" or isinstance(content, float):
            yield Quantity(abs(content), 0, dimension)


def given(code: str) -> Iterator[Quantity]:
    """Yield the numbers of a code cell: with a unit in a text or comment, and its constants in s, B, B/s or 1."""
    yield from quantities(code)
    for node in ast.walk(cell_python.tree(code)):
        if isinstance(node, ast.Constant | ast.BinOp):
            try:
                number = eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})
            except Exception:
                continue
            if isinstance(number, float):
                yield from (Quantity(number, 0, dimension) for dimension in ("s", "B", "B/s", "1"))
            elif type(number) is int:
                yield Quantity(number, 0, "B")


def follows(wanted: Quantity, known: list[Quantity], counts: list[float]) -> bool:
    """Tell whether a number is the sum, difference, ratio or product of two others, or of one and a count."""
    for a, b in itertools.permutations(known, 2):
        if a.dimension == b.dimension:
            slack = wanted.half + a.half + b.half
            if wanted.dimension == a.dimension and (
                near(a.value + b.value, wanted, slack) or near(a.value - b.value, wanted, slack)
            ):
                return True
            if wanted.dimension == "1" and b.value:
                ratio = a.value / b.value
                slack = wanted.half + ratio * ((a.half / a.value if a.value else 0) + b.half / b.value)
                if any(near(value, wanted, slack) for value in (ratio, abs(1 - ratio))):
                    return True
    for a, count in itertools.product(known, counts):
        for factor in (count, 1 / count):
            if a.dimension == wanted.dimension and near(a.value * factor, wanted, wanted.half + a.half * factor):
                return True
    return wanted.dimension == "1" and any(
        near(value, wanted, wanted.half)
        for a, b in itertools.permutations(counts, 2)
        for value in (a / b, abs(1 - a / b))
    )


def near(value: float, wanted: Quantity, slack: float) -> bool:
    """Tell whether a number lies within the slack of the one that is wanted."""
    return abs(value - wanted.value) <= slack * (1 + 1e-9)


def unsupported(markdown: str, outputs: Iterable[Any], codes: Iterable[str], root: Path = ROOT) -> list[str]:
    """Return `line N: NUMBER: SENTENCE` for each number with a unit in a page's prose that nothing supports.

    `outputs` are those of the page's recorded cells, `codes` the sources of its code cells, and `root` is the clone
    with the recorded notebooks of lessons that the page names.
    """
    shown = [*printed(outputs), *(quantity for code in codes for quantity in given(code))]
    integers = {
        float(number) for code in codes for number in re.findall(r"(?<![\w.])\d+(?![\w.])", code.replace("_", ""))
    }
    choices = {
        one.written
        for sentence in sentences(markdown)
        if BOXES.search(sentence.boxes)
        for one in quantities(sentence.text)
    }
    told = []
    for _, group in itertools.groupby(sentences(markdown), lambda sentence: sentence.paragraph):
        paragraph = list(group)
        text = "\n".join(sentence.text for sentence in paragraph)
        named = "".join(re.findall(r"\blessons? ((?:\d\d(?:, | and | or | to )?)+)", text))
        numbers = set(re.findall(r"\d\d", named))
        others = [path for number in numbers for path in (root / "book" / "recorded").glob(f"{number}_*.ipynb")]
        here = shown + [number for path in others for number in rows(lesson.rows(path))]
        bare = QUANTITY.sub(lambda match: match[0] if match[2] == "times" else " ", text)
        counts = [float(number.replace(",", "")) for number in re.findall(rf"{NUMBER}(?![.,]?\w)", bare)]
        counts = [count for count in counts if count > 1]
        known = [Quantity(size, 0, "s") for span, size in SPANS.items() if re.search(rf"\b{span}\b", text)]
        missing = []
        for sentence in paragraph:
            sourced = SOURCE.search(sentence.text) or BOXES.search(sentence.boxes)
            for number in quantities(re.sub(r"\]\([^)]*\)|\*", "", sentence.text)):
                times = number.written.endswith(" times") and number.value in integers
                refuted = "} Answer" in sentence.boxes and number.written in choices
                if (
                    sourced
                    or times
                    or refuted
                    or any(near(one.value, number, number.half) for one in here if one.dimension == number.dimension)
                ):
                    known.append(number)
                else:
                    missing.append((sentence, number))
        while derived := [pair for pair in missing if follows(pair[1], known, counts)]:
            known += [number for _, number in derived]
            missing = [pair for pair in missing if pair not in derived]
        told += [f"line {sentence.line}: {number.written}: {sentence.text}" for sentence, number in missing]
    return told
