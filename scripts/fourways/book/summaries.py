"""The book's summary cards: of each lesson its question, its bet with the evidence, and the sentences to keep.

Everything on a card is taken from the lesson and its recording:

- the bet: the box "The bet", the outputs that decide it, and the first paragraph of its answer
- to keep: the points of the section "Just in time or ahead of time?", or of the last section of a page that has no
  such section. A point is a sentence with bold words, with the next one if the whole sentence is bold; in a section
  without any, the first sentence of each item of its list. Where these are fewer than three, the points nearest before
  them in the lesson come first. There are at most five
- the tables of that section
"""

import copy
import re
from collections.abc import Sequence
from typing import Any

from fourways import lesson
from fourways.book import course

LEAST, MOST = 3, 5
"""How many points a card keeps."""
_DECISION = "Just in time or ahead of time?"
_BOX = re.compile(r"^(:{3,}|`{3,}).*?^\1$\n?", re.MULTILINE | re.DOTALL)
_BET = re.compile(r"^:::\{admonition\} The bet\n:class: tip\n\n(.*?)^:::$", re.MULTILINE | re.DOTALL)
_ASKED = re.compile(r"^:class: predict$.*?\bbet\b", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_ANSWER = re.compile(r"^:{3,}\{dropdown\} Answer\n+(.+)", re.MULTILINE)
_TOLD = re.compile(r"^\*\*The bet: ?(.+)", re.MULTILINE)


def notebook(pages: Sequence[tuple[lesson.Lesson, Any]]) -> Any:
    """Return the cards as a notebook, a section for each lesson; `pages` holds lessons with their merged notebooks.

    A page without a bet has no card. Without up-to-date outputs, a card has no evidence.
    """
    import nbformat

    intro = "# Summary cards\n\nA card for each lesson, made from the lesson's own words and its recorded outputs. "
    cells = [nbformat.v4.new_markdown_cell(intro + "Print this page, and each card is a sheet of paper.")]
    for target, merged in pages:
        if not (bet := _BET.search("\n".join(_markdown(merged)))):
            continue
        question = re.sub(r" ?Place your bet[^.]*\.", "", bet[1]).strip()
        link = f"[Read it](lessons/{target.slug}) · {target.meta['question']}"
        head = f"## {course.title(target)}\n\n{link}\n\n**The bet.** {question}"
        shown, answer = evidence(merged)
        kept = "\n".join(f"- {sentence}" for sentence in keep(merged))
        tables = re.findall(r"(?:^\|.*\|$\n?)+", _parts(merged)[1], re.MULTILINE)
        tail = [f"**The answer.** {answer}" if answer else "", f"**To keep**\n\n{kept}", *tables, _run(target)]
        cells.append(nbformat.v4.new_markdown_cell(_at_root(head)))
        cells += shown
        cells.append(nbformat.v4.new_markdown_cell(_at_root("\n\n".join(filter(None, tail)))))
    return nbformat.v4.new_notebook(cells=cells)


def evidence(merged: Any) -> tuple[list[Any], str]:
    """Return the cells whose outputs decide the bet of a lesson, and the first paragraph of its answer.

    The cells stand between the question about the bet and its answer, or in the section of the answer. Plots
    alone are shown where there are some, else tables alone where there are some. The code is hidden.
    """
    seen: list[Any] = []
    asked = False
    for cell in merged.cells:
        if cell.cell_type == "code":
            seen.append(cell)
        elif answer := _TOLD.search(cell.source) or (asked and _ANSWER.search(cell.source)):
            told = answer[1].strip()
            bold = answer.re is _TOLD and not told.startswith("**")  # "**The bet: all of them.** …"
            told = told if bold else told.removeprefix("**").strip()
            for kind in ("image/svg+xml", "text/html", ""):
                if shown := [_hidden(cell, kind) for cell in seen if _outputs(cell, kind)]:
                    break
            return shown, f"{'**' * bold}{told[0].upper()}{told[1:]}"
        elif _ASKED.search(cell.source):
            seen, asked = [], True
        elif re.search("^## ", cell.source, re.MULTILINE) and not asked:
            seen = []
    return [], ""


def _outputs(cell: Any, kind: str) -> list[Any]:
    """Return the outputs of a code cell that have data of a MIME type; all outputs if it is empty."""
    return [output for output in cell.outputs if not kind or kind in output.get("data", {})]


def _hidden(cell: Any, kind: str) -> Any:
    """Return a copy of a code cell that shows nothing but its outputs of one kind."""
    shown = copy.deepcopy(cell)
    shown.outputs = _outputs(shown, kind)
    shown.metadata["tags"] = ["remove-input"]
    return shown


def keep(merged: Any) -> list[str]:
    """Return the points to keep of a lesson, LEAST to MOST where it has as many."""
    before, decision = _parts(merged)
    kept = _points(decision) or [_sentences(item)[0] for item in re.findall(r"(?m)^(?:-|\d\.) (.+)", decision)]
    lacking = max(LEAST - len(kept), 0)
    return [*_points(before)[-lacking:][:lacking], *kept][:MOST]


def _parts(merged: Any) -> tuple[str, str]:
    """Return the text of a lesson's core before the section that decides, and that section's, both without boxes."""
    core = (source for source, deep in zip(_markdown(merged), lesson.deeper(merged), strict=True) if not deep)
    sections = re.split(r"^## (.+)$", _BOX.sub("", "\n\n".join(core)), flags=re.MULTILINE)
    titles = sections[1::2]
    plain = [place for place, title in enumerate(titles) if not re.match("Exercise|Sources", title)]
    chosen = titles.index(_DECISION) if _DECISION in titles else plain[-1]
    return "\n".join(sections[2 : 2 * chosen + 2 : 2]), sections[2 * chosen + 2]


def _markdown(merged: Any) -> list[str]:
    """Return the text of each cell, an empty one for a code cell."""
    return [cell.source if cell.cell_type == "markdown" else "" for cell in merged.cells]


def _points(text: str) -> list[str]:
    """Return the sentences with bold words, of paragraphs and lists; what is bold as a whole, with the next sentence.

    A bold title of up to three words is no point, nor is the end of a line that leads to what follows, by a colon.
    """
    points: list[str] = []
    for line in re.findall(r"^(?!\|)(?:- |\d\. )?(.+)", text, re.MULTILINE):
        sentences = _sentences(line)
        for sentence, after in zip(sentences, [*sentences[1:], ""], strict=True):
            whole = re.fullmatch(r"\*\*[^*]+\*\*", sentence)
            leads = sentence.rstrip("*").endswith(":") and not after
            if "**" in sentence and not leads and not (whole and len(sentence.split()) < 4):
                follows = after if whole and not after.endswith(":") else ""
                points.append(f"{sentence} {follows}".strip())
    return points


def _sentences(line: str) -> list[str]:
    """Return the sentences of a line; bold words stay together."""
    sentences = [""]
    for part in re.split(r"(?<=[.!?:]) +(?=[\"*`(A-Z])|(?<=[.!?:]\*\*) +", line):
        if sentences[-1].count("**") % 2:
            sentences[-1] += f" {part}"
        else:
            sentences.append(part)
    return sentences[1:]


def _run(target: lesson.Lesson) -> str:
    """Return the commands of a lesson: to open it; to check, time and build its kernel; and those that it names."""
    number = target.number.lstrip("0") or "0"
    usual = ("open", "check", "time", "build") if number.isdigit() else ("open",)
    named = re.findall(r"`(?:\.venv/bin/)?fourways ([\w-]+)", target.path.read_text(encoding="utf-8"))
    more = [each for each in dict.fromkeys(named) if each not in ("open", "check", "time", "build")]
    commands = [*(f"{each} {number}" for each in usual), *more]
    return "**Commands:** " + " · ".join(f"`fourways {each}`" for each in commands)


def _at_root(text: str) -> str:
    """Return a lesson's text with its links as they are from the book's root."""
    text = re.sub(r"\]\((?:\.\./book/)([\w/.#-]+)\)", r"](\1)", text)
    text = re.sub(r"\]\(\.\./([\w]+\.(?:md|ipynb))", r"](\1", text)
    return re.sub(r"\]\((\w+)\.ipynb", r"](lessons/\1.ipynb", text)
