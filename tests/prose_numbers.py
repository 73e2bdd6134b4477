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
SIZES = {"B": 1.0, "KB": 1e3, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
SIZES |= {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
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
NO_PROSE = re.compile(
    r"(?ms)\A---$.*?^---$|^(`{3,}).*?^\1$|^(:{3,})\{admonition\} The bet.*?^\2$|^:[\w-]+:.*?$|<!--.*?-->"
)
"""Front matter, code, options of boxes, and the bet, whose numbers are choices."""


class Quantity(NamedTuple):
    """A number in s, B, B/s or 1 (`dimension`), half a unit of its last digit, and how it is written."""

    value: float
    half: float
    dimension: str
    written: str = ""

    def is_near(self, value: float, slack: float | None = None) -> bool:
        return abs(value - self.value) <= (self.half if slack is None else slack) * (1 + 1e-9)


def paragraphs(markdown: str) -> Iterator[tuple[int, str]]:
    """Yield the first line's number and the text of each paragraph, list item and table row."""
    prose = NO_PROSE.sub(lambda match: "\n" * match[0].count("\n"), markdown)
    for match in re.finditer(r"(?m)^.*\S.*\n?(?:^(?!\s*(?:[-*+] |\d+\. |\||#|:::)).*\S.*\n?)*", prose):
        yield prose.count("\n", 0, match.start()) + 1, match[0]


def sentences(paragraph: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a paragraph, each with the number of lines above it."""
    start = 0
    for end in re.finditer(r"(?<!e\.g)(?<!i\.e)(?<! cf)(?<! vs)[.?!][*_)\"”’]*(?=\s)|\Z", paragraph):
        if sentence := paragraph[start : end.end()].strip():
            yield paragraph.count("\n", 0, paragraph.index(sentence, start)), sentence
        start = end.end()


def quantities(text: str) -> Iterator[Quantity]:
    """Yield the numbers with a unit in a text. All of `5.5 to 6.4 µs` share the unit; `about` widens a number."""
    for match in QUANTITY.finditer(text):
        dimension, size = UNITS[match[2]]
        for digits in re.finditer(NUMBER, match[1]):
            number = float(digits[0].replace(",", "").rstrip("."))
            half = 0.5 * 10.0 ** -len(digits[0].partition("e")[0].partition(".")[2])
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
        dimension = {"bytes_per_second": "B/s", "bytes": "B", "": "1"}.get(key, "s")
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
        if a.dimension != b.dimension:
            continue
        slack = wanted.half + a.half + b.half
        if wanted.dimension == a.dimension and any(wanted.is_near(a.value + sign * b.value, slack) for sign in (1, -1)):
            return True
        if wanted.dimension == "1" and a.value and b.value:
            ratio = a.value / b.value
            slack = wanted.half + ratio * (a.half / a.value + b.half / b.value)
            if wanted.is_near(ratio, slack) or wanted.is_near(abs(1 - ratio), slack):
                return True
    for a, count in itertools.product(known, counts):
        for factor in (count, 1 / count):
            if a.dimension == wanted.dimension and wanted.is_near(a.value * factor, wanted.half + a.half * factor):
                return True
    ratios = (a / b for a, b in itertools.permutations(counts, 2))
    return wanted.dimension == "1" and any(wanted.is_near(each) or wanted.is_near(abs(1 - each)) for each in ratios)


def unsupported(markdown: str, outputs: Iterable[Any], codes: Iterable[str], root: Path = ROOT) -> list[str]:
    """Return `line N: NUMBER: SENTENCE` for each number with a unit in a page's prose that nothing supports.

    `outputs` are those of the page's recorded cells, `codes` the sources of its code cells, and `root` is the clone
    with the recorded notebooks of lessons that the page names.
    """
    shown = [*printed(outputs), *(quantity for code in codes for quantity in given(code))]
    integers = {
        float(number) for code in codes for number in re.findall(r"(?<![\w.])\d+(?![\w.])", code.replace("_", ""))
    }
    told = []
    for line, text in paragraphs(markdown):
        named = "".join(re.findall(r"\blessons? ((?:\d\d(?:, | and | or | to )?)+)", text))
        numbers = set(re.findall(r"\d\d", named))
        others = [path for number in numbers for path in (root / "book" / "recorded").glob(f"{number}_*.ipynb")]
        here = shown + [number for path in others for number in rows(lesson.rows(path))]
        bare = QUANTITY.sub(lambda match: match[0] if match[2] == "times" else " ", text)
        counts = [float(number.replace(",", "")) for number in re.findall(rf"{NUMBER}(?![.,]?\w)", bare)]
        counts = [count for count in counts if count > 1]
        known = [Quantity(size, 0, "s") for span, size in SPANS.items() if re.search(rf"\b{span}\b", text)]
        missing = []
        for above, sentence in sentences(text):
            for number in quantities(re.sub(r"\]\([^)]*\)|\*", "", sentence)):
                times = number.written.endswith(" times") and number.value in integers
                is_shown = any(one.dimension == number.dimension and number.is_near(one.value) for one in here)
                if SOURCE.search(sentence) or times or is_shown:
                    known.append(number)
                else:
                    missing.append((line + above, sentence, number))
        while derived := [each for each in missing if follows(each[-1], known, counts)]:
            known += [number for *_, number in derived]
            missing = [each for each in missing if each not in derived]
        told += [f"line {at}: {number.written}: {sentence}" for at, sentence, number in missing]
    return told
