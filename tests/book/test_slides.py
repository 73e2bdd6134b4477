"""The slides of each lesson: nothing is missing, all fits on a projector, and a browser asks nobody for anything."""

import re
from pathlib import Path

import pytest
from browser import Browser
from commands import fourways

from fourways import book, lesson

LESSONS = lesson.lessons_and_pages()


@pytest.mark.parametrize("target", LESSONS, ids=lambda each: each.slug)
def test_a_deck_holds_questions_answers_figures_and_the_decision(target: lesson.Lesson) -> None:
    slides = book.deck(target).split("<section>")[1:]
    text = target.path.read_text("utf-8")
    asking = [number for number, slide in enumerate(slides) if "class=question" in slide and number]
    assert len(asking) == len(re.findall("^:class: predict$", text, re.MULTILINE))
    assert all("<li>" in slides[number] for number in asking)
    answers = re.findall(r"\{dropdown\} Answer\n\W*(\w+)", text)
    assert all(word in slides[number + 1] for word, number in zip(answers, asking, strict=True)), "on the next slide"
    bet = re.search(r"\{admonition\} The bet\n:class: tip\n\n(\w+)", text)
    assert not bet or f"<h2>The bet</h2><div class=fit><p>{bet[1]}" in slides[1], "before any answer"
    drawings = text.count(":class: only-light")
    cells = zip(target.notebook.cells, lesson.outputs(target), strict=True)
    shown = (outputs for cell, outputs in cells if not {"exercise", "solution"} & set(lesson.tags(cell)))
    plots = sum("image/svg+xml" in output.get("data", {}) for outputs in shown for output in outputs)
    assert "".join(slides).count("<figure>") == drawings + plots
    decision = re.search(r"^## Just in time or ahead of time\?\n\n\W*(\w+)", text, re.MULTILINE)
    assert not decision or decision[1] in next(
        slide for slide in slides if "Just in time or ahead of time?</h2>" in slide
    )


def test_a_decision_with_code_in_it_is_there_from_its_first_cell_to_its_last() -> None:
    deck = book.deck(lesson.find("14"))
    said = ["480 times a day", "Take nvrtc", "A class of fifty", "10,000 launches", "Take pybind11", "if anything"]
    places = [deck.index(words, deck.index("Three programs of other kinds")) for words in said]
    assert places == sorted(places)


@pytest.mark.long
def test_all_fits_on_a_projector_and_no_text_is_tiny(browser: Browser, tmp_path: Path) -> None:
    done = fourways("slides", "--folder", tmp_path)
    assert done.exit_code == 0, done.output
    over = (
        "return [...document.querySelectorAll('section, .fit')].filter("
        "slide => slide.scrollHeight > slide.clientHeight + 1 || slide.scrollWidth > slide.clientWidth + 1"
        ").map(slide => slide.innerText)"
    )
    tiny = (
        "return [...document.querySelectorAll('h2, p, li, pre, th, td')].filter("
        "each => parseFloat(getComputedStyle(each).fontSize) < innerHeight / 60).map(each => each.innerText)"
    )
    for target in LESSONS:
        deck = tmp_path / f"{target.slug}.html"
        assert browser.open(deck, 1600) == []
        assert (deck.name, browser.run(over)) == (deck.name, [])
        assert (deck.name, browser.run(tiny)) == (deck.name, [])


def test_keys_turn_the_slides(browser: Browser, tmp_path: Path) -> None:
    deck = tmp_path / "deck.html"
    deck.write_text(book.deck(lesson.find("1")), "utf-8")
    browser.open(deck, 1600)
    browser.run(
        "for (const key of ['PageDown', 'ArrowRight', 'ArrowLeft']) dispatchEvent(new KeyboardEvent('keydown', {key}))"
    )
    assert browser.run("return scrollY / innerHeight") == 1
