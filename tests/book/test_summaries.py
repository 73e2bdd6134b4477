"""The summary cards: made of the lessons' own words."""

import re

import nbformat
import pytest

from fourways import kernels, lesson
from fourways.book import summaries
from fourways.book.merge import merge

PAGE = """\
:::{admonition} The bet
:class: tip

**How long?** Place your bet before you read on.
:::

## First

**Early words stay out.**
"""
PREDICT = ":::{admonition} Predict\n:class: predict\n\nYour bet: how long?\n\n- long\n- short\n:::"
ANSWER = ":::{dropdown} Answer\nLong: it takes a day.\n:::\n\n**Lock it?** Perhaps. **A first point here.** Because."
DECISION = """\
## Just in time or ahead of time?

**All of it. Twice over!** And why. No more.
- **Ship** what you have: it helps.
**This leads to code:**

## Exercises

**1. A task for you.**
"""


def written(*cells: str | nbformat.NotebookNode) -> nbformat.NotebookNode:
    made = [nbformat.v4.new_markdown_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    return nbformat.v4.new_notebook(cells=made)


def measured(*kinds: str) -> nbformat.NotebookNode:
    outputs = [nbformat.v4.new_output("display_data", data={kind: kind}) for kind in kinds]
    return nbformat.v4.new_code_cell("measure()", outputs=outputs, metadata={"tags": ["hide-cell"]})


def test_the_evidence_is_what_stands_between_the_bet_and_its_answer() -> None:
    cells = (
        PAGE,
        measured("text/plain"),
        PREDICT,
        measured("text/html", "image/svg+xml"),
        ANSWER,
        measured("text/html"),
    )
    (cell,), answer = summaries.evidence(written(*cells))
    assert answer == "Long: it takes a day."
    assert [[*output.data] for output in cell.outputs] == [["image/svg+xml"]]
    assert cell.metadata["tags"] == ["remove-input"]


@pytest.mark.parametrize(
    ("told", "answer"),
    [("**The bet:** long. So it is.", "Long. So it is."), ("**The bet: long.** So it is.", "**Long.** So it is.")],
)
def test_an_answer_without_a_box(told: str, answer: str) -> None:
    (cell,), words = summaries.evidence(written(PAGE, measured("text/html"), told))
    assert (words, len(cell.outputs)) == (answer, 1)


def test_the_points_are_bold_sentences_of_the_decision_and_if_few_those_before_it() -> None:
    kept = summaries.keep(written(PAGE, PREDICT, ANSWER, DECISION))
    assert kept == [
        "**A first point here.** Because.",
        "**All of it. Twice over!** And why.",
        "**Ship** what you have: it helps.",
    ]


@pytest.mark.parametrize("target", lesson.all_lessons(), ids=lambda each: each.slug)
def test_every_lesson_has_a_card_that_says_what_it_shows(target: lesson.Lesson) -> None:
    merged = merge(target, kernels.root() / "book" / "recorded" / f"{target.slug}.ipynb")
    text = "\n".join(cell.source for cell in summaries.notebook([(target, merged.notebook)]).cells)
    assert target.meta["question"] in text and "**The bet.**" in text and "**The answer.**" in text
    kept = summaries.keep(merged.notebook)
    assert summaries.LEAST <= len(kept) <= summaries.MOST
    whole = re.sub(r"\s+", " ", target.path.read_text())
    assert all(part in whole for point in kept for part in point.split(". "))
    shown, _ = summaries.evidence(merged.notebook)
    assert merged.stale or any(cell.outputs for cell in shown)
