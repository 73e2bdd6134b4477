"""The README: its made parts are up to date, and its words are true of the tree."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

from fourways import cli, host, lesson, toolchain
from fourways.book import course, overview

FIGURES = [f"book/figures/overview_{theme}_{width}.svg" for theme in overview.THEMES for width in overview.WIDTHS]


def make_readme(clone: Path) -> subprocess.CompletedProcess[str]:
    environment = toolchain.child_environment() | {"FOURWAYS_ROOT": str(clone)}
    command = [sys.executable, "-m", "fourways.book.readme"]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def words(figure: Path) -> list[str]:
    """The words of a figure, without the numbers on its axes, which depend on matplotlib."""
    return [word for word in re.findall(r">([^<>]+)</text>", figure.read_text()) if not word.isdigit()]


@pytest.fixture
def clone(root: Path, tmp_path: Path) -> Path:
    """What the README is made of."""
    (tmp_path / "cpp" / "kernels").mkdir(parents=True)
    shutil.copytree(root / "lessons", tmp_path / "lessons")
    shutil.copy(root / "README.md", tmp_path)
    shutil.copytree(root / "book" / "recorded", tmp_path / "book" / "recorded")
    return tmp_path


def test_table_and_figure_are_up_to_date(root: Path, clone: Path) -> None:
    today = (root / "README.md").read_text()
    old = "| [99 · An old lesson](lessons/99_old.md) | `old` | 99 |\n"
    (clone / "README.md").write_text(today.replace("<!-- /lessons -->", f"{old}<!-- /lessons -->"))
    assert make_readme(clone).returncode == 0
    assert (clone / "README.md").read_text() == today, "run `make readme`"
    for figure in FIGURES:
        shown = words(clone / figure)
        assert words(root / figure) == shown, "run `make readme`"
        assert "pybind11" in shown and "host" not in shown and len(shown) >= 4 + 4 * 4


def test_the_readmes_kernel_is_right_and_its_calls_are_python(root: Path, tmp_path: Path) -> None:
    source, calls = (
        re.findall(rf"```{of}\n(.*?)```", (root / "README.md").read_text(), re.S)[0] for of in ("cuda", "python")
    )
    (tmp_path / "readme.cu").write_text(source)
    x = np.arange(300, dtype=np.float32)
    y = np.full_like(x, np.nan)
    host.compile(tmp_path / "readme.cu").get_function("doublify")((2,), (256,), (x, y, np.int64(x.size)))
    assert (y == 2 * x).all()
    compile(calls, "README.md", "exec")
    assert len((source + calls).splitlines()) <= 25


def test_every_lesson_is_in_the_course(root: Path) -> None:
    names = [name for names in course.PARTS.values() for name in names]
    assert sorted(names) == sorted(each.number for each in lesson.lessons_and_pages())
    for each in lesson.lessons_and_pages():
        assert each.meta["question"].endswith("?") and len(each.meta["question"]) <= 90


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere_and_commands_exist(root: Path, name: str) -> None:
    text = (root / name).read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or (root / target).exists(), target
    targets = re.findall(r"^([\w-]+):", (root / "Makefile").read_text(), re.MULTILINE)
    commands = re.findall(r"`make ([a-z]+)|^make ([a-z]+)", text, re.MULTILINE)
    assert {first or second for first, second in commands} <= set(targets)
    subcommands = set(re.findall(r"fourways ([a-z-]+)", text)) - {"package"}
    assert subcommands <= set(get_command(cli.app).commands)
