"""Slides for a class: one HTML file a lesson, which needs neither a network nor a library.

A deck holds the lesson's question and bet, each prediction with its answer on the next slide, each figure, and the
decision between just in time and ahead of time. The outputs are the recorded ones.
"""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from fourways import figures, kernels, lesson, tables
from fourways.book import course
from fourways.book.merge import picture, readable

_DECISION = "Just in time or ahead of time?"
_LINES, _WIDE = 16, 100  # of an output on a slide; text that is wider wraps
_PART = re.compile(
    r"^#+ (?P<heading>[^\n]+)$"
    r"|^```\{image\} +\.\./book/(?P<image>\S+)\n(?P<options>.*?)^```$"
    r"|^(?P<code>`{3,}).*?^(?P=code)$"
    r"|^(?P<tip>:{3,})\{admonition\} The bet\n:class: tip\n(?P<bet>.*?)^(?P=tip)$"
    r"|^(?P<box>:{3,})\{admonition\} [^\n]*\n:class: predict\n(?P<question>.*?)^(?P=box)$"
    r"|^(?P<fold>:{3,})\{dropdown\} Answer\n(?P<answer>.*?)^(?P=fold)$",
    re.DOTALL | re.MULTILINE,
)
_STYLE = """
* { box-sizing: border-box; }
html { scroll-snap-type: y mandatory; font: 4.4vh/1.35 system-ui, sans-serif; color: #1f2328; background: #fff; }
body { margin: 0; }
section { height: 100vh; padding: 6vh 7vw; scroll-snap-align: start; scroll-snap-stop: always; overflow: hidden;
  display: flex; flex-direction: column; justify-content: center; gap: 3vh; }
h1, h2, p, ul, table, figure { margin: 0; }
h1 { font-size: 8vh; line-height: 1.15; }
h2 { font-size: 3vh; font-weight: 600; color: #57606a; }
.question { font-size: 6vh; line-height: 1.25; }
li { margin-block: 1.5vh; }
.fit { min-height: 0; overflow: hidden; }
figure { flex: 1; min-height: 0; text-align: center; }
figure img { width: 100%; height: 100%; object-fit: contain; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; overflow-wrap: anywhere; }
pre { margin: 0; font-size: inherit; white-space: pre; }
pre.wide { white-space: pre-wrap; }
table { border-collapse: collapse; }
th, td { padding: 0.4em 0.5em; border-bottom: 1px solid #d0d7de; text-align: left; vertical-align: baseline; }
tbody th, td.number { white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
small { color: #57606a; font-size: 0.8em; }
@page { size: 33.867cm 19.05cm; margin: 0; }
"""
_SCRIPT = """
const fit = () => document.querySelectorAll(".fit").forEach((text) => {
  let size = 4.5;  // as large as the slide allows, in % of its height
  do text.style.fontSize = `${size -= 0.1}vh`;
  while (size > 1 && (text.scrollHeight > text.clientHeight + 1 || text.scrollWidth > text.clientWidth));
});
addEventListener("resize", fit);
fit();
addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  scrollTo(0, (Math.round(scrollY / innerHeight) + step) * innerHeight);
});
"""


def deck(target: lesson.Lesson) -> str:
    """Return the slides of a lesson as one HTML page for a projector of 16:9; the arrow keys turn them."""
    slides = "\n".join(f"<section>{slide}</section>" for slide in _slides(target))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(course.title(target))}</title>'
        f"<style>{_STYLE}</style></head><body>\n{slides}\n<script>{_SCRIPT}</script></body></html>\n"
    )


def _slides(target: lesson.Lesson) -> Iterator[str]:
    """Yield the content of each slide."""
    yield f"<h1>{_html(course.title(target), True)}</h1><p class=question>{_html(target.meta['question'], True)}</p>"
    heading = ""
    evidence: list[str] = []  # figures, and outputs since a question: they follow its answer
    asking = deciding = False
    for cell, outputs in zip(target.notebook.cells, lesson.outputs(target), strict=True):
        if {"exercise", "solution"} & set(lesson.tags(cell)):
            continue
        if not asking:
            yield from evidence
            evidence = []
        for output in outputs:
            data = output.get("data", {})
            if "image/svg+xml" in data:
                svg = data["image/svg+xml"]
                evidence.append(_figure(heading, svg.encode(), figures.description(svg)))
            elif (asking or deciding) and (printed := _printed(output, data)):
                evidence.append(_heading(heading) + printed)
        prose = cell.source if cell.cell_type == "markdown" else ""
        for part in _PART.finditer(prose):
            if part["heading"]:
                heading = part["heading"]
            elif part["image"] and "only-dark" not in part["options"]:
                picture = kernels.root() / "book" / part["image"]
                words = re.search(r":alt: (.*)", part["options"])
                evidence.append(_figure(heading, picture.read_bytes(), words[1] if words else ""))
            elif part["bet"]:
                yield _heading("The bet") + _text(part["bet"])
            elif part["question"]:
                yield from evidence
                asking, evidence = True, []
                question, _, choices = part["question"].strip().partition("\n")
                yield f"{_heading(heading)}<div class=question>{_html(question)}</div>{_html(choices)}"
            elif part["answer"]:
                yield _heading(heading) + _text(part["answer"])
                yield from evidence
                asking, evidence = False, []
        for number, section in enumerate(re.split(r"^## ", prose, flags=re.MULTILINE)):
            if number:
                deciding = section.startswith(_DECISION)
            if deciding and (text := _PART.sub("", section.removeprefix(_DECISION)).strip()):
                yield _heading(_DECISION) + _text(text)
    yield from evidence


def _heading(words: str) -> str:
    return f"<h2>{_html(words, inline=True)}</h2>" if words else ""


def _text(source: str) -> str:
    """Return prose as HTML, in smaller letters if it is long."""
    return f"<div class=fit>{_html(source)}</div>"


def _html(source: str, inline: bool = False) -> str:
    """Return MyST as HTML: a link to another page becomes its words, and citations are left out."""
    from markdown_it import MarkdownIt

    source = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", re.sub(r" ?\{cite\}`[^`]*`", "", source))
    markdown = MarkdownIt().enable("table")
    return markdown.renderInline(source) if inline else markdown.render(source)


def _figure(heading: str, svg: bytes, words: str) -> str:
    return f"{_heading(heading)}<figure>{picture(svg, words)}</figure>"


def _printed(output: Any, data: dict[str, Any]) -> str:
    """Return a recorded table or text as HTML; "" if it has too many lines."""
    lines = (output.get("text") or data.get("text/plain") or "").strip().splitlines()
    if len(lines) > _LINES:
        return ""
    wraps = " class=wide" if max(map(len, lines), default=0) > _WIDE else ""
    is_table = tables.MIME in data
    html = readable(data["text/html"]) if is_table else f"<pre{wraps}>{escape(chr(10).join(lines))}</pre>"
    return f"<div class=fit>{html}</div>"
