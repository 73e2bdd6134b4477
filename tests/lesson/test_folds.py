"""Sections that go deeper, questions and their answers, and wrong answers to exercises."""

from pathlib import Path

import nbformat
import pytest

from fourways import lesson

TEXT = """---
fourways: {ways: [host], without: {}}
---

# A lesson

```cuda
int line_1;

int line_2;
```

:::{admonition} Predict
:class: predict
How many?

- one
- two
:::

```{code-cell} python
print(1)
```

```{code-cell} python
:tags: [hide-input]

print(2)
print(3)
```

:::{dropdown} Answer
Two.
:::

```{code-cell} python
:tags: [exercise]

print("Not yet: begin.")
```

```{code-cell} python
:tags: [wrong]

print("Not yet: that is half of it.")
```

```{code-cell} python
:tags: [solution]

print("Right.")
```

+++

## Deeper: one


### A part of it

```{code-cell} python
print(4)
```

+++

## On

```{code-cell} python
print(5)
```
"""


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> lesson.Lesson:
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    for folder in ("lessons", "cpp/kernels", "book"):
        (tmp_path / folder).mkdir(parents=True)
    path = tmp_path / "lessons" / "00_lesson.md"
    path.write_text(TEXT)
    return lesson.Lesson(path)


def sources(found: lesson.Lesson, which: list[bool]) -> list[str]:
    cells = zip(found.notebook.cells, which, strict=True)
    return [cell.source for cell, chosen in cells if chosen and cell.cell_type == "code"]


def test_what_goes_deeper_ends_at_the_next_heading_of_its_level(found: lesson.Lesson) -> None:
    assert sources(found, lesson.deeper(found.notebook)) == ["print(4)"]


def test_wrong_answers_are_for_tests_alone(found: lesson.Lesson) -> None:
    assert "that is half of it" in nbformat.writes(found.whole)
    assert "that is half of it" not in nbformat.writes(found.notebook)


def test_cells_between_a_question_and_its_answer(found: lesson.Lesson) -> None:
    assert sources(found, lesson.asked(found.notebook)) == ["print(1)", "print(2)\nprint(3)"]
    notebook = found.notebook
    notebook.cells.insert(0, nbformat.v4.new_code_cell("print(0)"))
    assert not lesson.asked(notebook)[0], "before the first question"


def test_a_notebook_for_a_class(found: lesson.Lesson, tmp_path: Path) -> None:
    (tmp_path / "book" / "references.bib").touch()
    (path,) = lesson.export([found], tmp_path / "class")
    cells = nbformat.read(path, 4).cells
    texts = [cell.source for cell in cells]
    guess = texts.index("*Your guess, before you run the next cell:*")
    assert texts[guess + 1] == "print(1)" and texts.count(texts[guess]) == 1
    assert "> **Predict**\n>\n> How many?" in texts[0]
    assert "<details><summary>Answer</summary>\n\nTwo.\n\n</details>" in texts
    assert [cell.source for cell in cells if cell.metadata.get("jupyter", {}).get("source_hidden")] == [
        "print(2)\nprint(3)"
    ]
    collapsed = [cell.source[:9] for cell in cells if cell.metadata.get("jp-MarkdownHeadingCollapsed")]
    assert collapsed == ["## Deeper"]
