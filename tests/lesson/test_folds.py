"""Sections that go deeper, and wrong answers to exercises."""

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

```{code-cell} python
:tags: [hide-input]

print(2)
print(3)
```

:::{admonition} The bet
:class: tip
How many?
:::

:::{dropdown} Hint
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


def test_a_notebook_for_a_class(found: lesson.Lesson, tmp_path: Path) -> None:
    (tmp_path / "book" / "references.bib").touch()
    (path,) = lesson.export([found], tmp_path / "class")
    cells = nbformat.read(path, 4).cells
    texts = [cell.source for cell in cells]
    assert any("> **The bet**\n>\n> How many?" in text for text in texts)
    assert any("<details><summary>Hint</summary>\n\nTwo.\n\n</details>" in text for text in texts)
    assert [cell.source for cell in cells if cell.metadata.get("jupyter", {}).get("source_hidden")] == [
        "print(2)\nprint(3)"
    ]
    collapsed = [cell.source[:9] for cell in cells if cell.metadata.get("jp-MarkdownHeadingCollapsed")]
    assert collapsed == ["## Deeper"]
