"""Notebooks that stand alone, and the links that open them elsewhere: only once the repository has an address."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from fourways import lesson
from fourways.lesson import online

ADDRESS = "https://github.com/someone/four-ways"
LESSONS = lesson.lessons_and_pages()


@pytest.fixture
def addressed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone whose CITATION.cff has the repository's address."""
    for name in ("lessons", "book", "cpp"):
        shutil.copytree(root / name, tmp_path / name, ignore=shutil.ignore_patterns("recorded", "results"))
    (tmp_path / "CITATION.cff").write_text(f'repository-code: "{ADDRESS}.git"\n')
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    return tmp_path


def test_hosts_of_notebooks_open_what_is_published(addressed: Path) -> None:
    published = "github.com/someone/four-ways/blob/gh-pages/lessons/01_doublify.ipynb"
    assert lesson.hosts("01_doublify") == {
        "Colab": f"https://colab.research.google.com/{published.replace('.com', '', 1)}",
        "Kaggle": f"https://www.kaggle.com/kernels/welcome?src=https://{published}",
    }
    (addressed / "CITATION.cff").write_text("repository-code: https://elsewhere.example/four-ways\n")
    assert online.address() == "https://elsewhere.example/four-ways" and lesson.hosts("01_doublify") == {}
    (addressed / "CITATION.cff").write_text(f"# repository-code: {ADDRESS}\n")
    assert online.address() is None and lesson.hosts("01_doublify") == {}


@pytest.mark.parametrize("target", LESSONS, ids=lambda each: each.slug)
def test_a_notebook_for_download_stands_alone(target: lesson.Lesson) -> None:
    notebook = lesson.alone(target)
    nbformat.validate(notebook)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    pictures = re.findall(r"!\[[^]]*\]\((.{26})", text)
    assert all(picture.startswith("data:image/svg+xml;base64") for picture in pictures)
    assert not [cell for cell in notebook.cells if {"solution", "wrong"} & set(lesson.tags(cell))]
    script = lesson.script(target)
    compile(script, f"{target.slug}.py", "exec")
    assert "data:image" not in script and "%%needs" not in script


def test_its_first_cell_fetches_four_ways_and_its_links_lead_to_the_web(root: Path, addressed: Path) -> None:
    notebook = lesson.alone(lesson.find("5"))
    first = next(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert f"!git clone --quiet --depth 1 {ADDRESS} four-ways\n" in first and "%load_ext fourways.lesson" in first
    assert (root / re.findall(r"%run four-ways/(\S+)", first)[0]).is_file()
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert f"]({ADDRESS}/blob/main/lessons/your_own_kernel.md)" in text
    assert not re.findall(r"\]\((?!https?:|data:|#)", re.sub(r"(`+).+?\1", "", text))


def test_set_up_that_fails_says_why(root: Path, tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(root / "scripts" / "hosted.py", tmp_path / "scripts")
    done = subprocess.run([sys.executable, tmp_path / "scripts" / "hosted.py"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "requirements.lock" in done.stderr and "Set-up failed in the command above." in done.stderr
