"""The minutes of a lesson, part by part."""

from pathlib import Path

import nbformat
import pytest

from fourways import lesson
from fourways.lesson.length import sections

PARTS = {
    "1500 words, and an address that is none": ("word " * 1499 + "[word](https://one/two/three)", 10),
    "60 lines of CUDA": ("```cuda\n" + "int x;\n\n" * 60 + "```", 10),
    "60 lines of Python": ("```python\n" + "x = 1\n" * 60 + "```", 6),
    "folded code": (":::{dropdown}\n```cuda\n" + "int x;\n" * 60 + "```\n:::", 0),
    "code below a fold": (":::{dropdown}\n:::\n\n```cuda\n" + "int x;\n" * 60 + "```", 10),
    "30 rows of a table": ("| a | b |\n|---|---|\n" + "| c | d |\n" * 29, 2),
    "a drawing, light and dark": (
        "```{image} a_light.svg\n:class: only-light\n:alt: words and words\n```\n\n"
        "```{image} a_dark.svg\n:class: only-dark\n:alt: words and words\n```",
        0.5,
    ),
    "a picture without words": ("![](a.svg)", 0.5),
    "a box": (":::{admonition} Predict\n:class: predict\n\nWhich?\n:::", 2 / 150),
    "60 lines of Python in a cell": ("```{code-cell} python\n" + "x = 1\n" * 60 + "```", 6 + 1 / 4),
    "30 lines of CUDA in a cell": (
        '```{code-cell} python\ntext = """' + "int x;\n" * 30 + '"""\n```',
        30 / 6 + 1 / 10 + 1 / 4,
    ),
    "a cell whose code is folded": ("```{code-cell} python\n:tags: [hide-input]\n\nx = 1\n```", 1 / 4),
    "an exercise": ("```{code-cell} python\n:tags: [exercise]\n\nx = 1\n```", 8),
    "a solution": ("```{code-cell} python\n:tags: [solution]\n\nx = 1\n```", 0),
}


def write(root: Path, text: str) -> lesson.Lesson:
    path = root / "lessons" / "00_lesson.md"
    path.parent.mkdir(exist_ok=True)
    myst = "jupytext: {text_representation: {extension: .md, format_name: myst}}"
    path.write_text(f"---\nfourways: {{kernel: doublify, ways: [host], without: {{}}}}\n{myst}\n---\n\n{text}\n")
    return lesson.Lesson(path)


@pytest.fixture(autouse=True)
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    for folder in ("cpp/kernels", "book/recorded", "lessons"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize("part", PARTS)
def test_each_part_takes_its_minutes(part: str, clone: Path) -> None:
    text, minutes = PARTS[part]
    assert sum(section.minutes for section in sections(write(clone, text))) == pytest.approx(minutes)


def test_recorded_outputs_take_minutes(clone: Path) -> None:
    """Those of cells that have not changed: lines of text, rows of tables, figures."""
    codes = ("print(lines)", "table", "figure", "changed = 2")
    written = write(clone, "\n\n".join(f"```{{code-cell}} python\n{code}\n```" for code in codes))
    assert lesson.length(written) == (round(4 * (1 / 10 + 1 / 4)), 0), "never recorded"
    lines = nbformat.v4.new_output("stream", text="a line\n" * 30)
    rows = nbformat.v4.new_output("execute_result", {"text/plain": "row\n" * 15, "text/html": "<table>"})
    figure = nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg>", "text/plain": "<Figure>\n" * 99})
    cells = [nbformat.v4.new_code_cell(code, outputs=[output]) for code, output
             in zip([*codes[:3], "changed = 1"], [lines, rows, figure, lines], strict=True)]  # fmt: skip
    nbformat.write(nbformat.v4.new_notebook(cells=cells), clone / "book" / "recorded" / "00_lesson.ipynb")
    (section,) = sections(written)
    assert section.minutes == pytest.approx(4 * (1 / 10 + 1 / 4) + 30 / 15 + 15 / 15 + 0.5)


def test_minutes_of_each_section(clone: Path) -> None:
    text = "# A lesson\n\n## One\n\nword\n\n```python\n# no heading\n```\n\n+++\n\n### Deeper: more\n\n+++\n\n## Two"
    assert [section[:3] for section in sections(write(clone, text))] == [
        ("A lesson", pytest.approx(2 / 150), False),
        ("One", pytest.approx(2 / 150 + 1 / 10), False),
        ("Deeper: more", pytest.approx(2 / 150), True),
        ("Two", pytest.approx(1 / 150), False),
    ]


def test_cells_of_each_section_and_those_on_a_gpu(clone: Path) -> None:
    cells = "".join(
        f"```{{code-cell}} python\n:tags: [{tag}]\nx = 1\n```\n\n"
        for tag in ("gpu", "way-nvrtc", "way-host", "needs-host", "exercise", "solution")
    )
    (section,) = sections(write(clone, f"# A lesson\n\n{cells}"))
    assert (section.cells, section.gpu_cells) == (5, 2)
