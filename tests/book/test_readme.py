"""The README: its made parts are up to date, and its words are true of the tree."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from fourways import cli, stages, toolchain

FIGURE = "book/figures/first_result.svg"


def make_readme(clone: Path) -> subprocess.CompletedProcess[str]:
    environment = toolchain.child_environment() | {"FOURWAYS_ROOT": str(clone)}
    command = [sys.executable, "-m", "fourways.book", "readme"]
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
    for folder in ("results", "recorded"):
        shutil.copytree(root / "book" / folder, tmp_path / "book" / folder)
    return tmp_path


def test_table_and_figure_are_up_to_date(root: Path, clone: Path) -> None:
    readme = (root / "README.md").read_text()
    old = "| [99 · An old lesson](lessons/99_old.md) | `old` | 99 |\n"
    (clone / "README.md").write_text(readme.replace("<!-- /lessons -->", f"{old}<!-- /lessons -->"))
    assert make_readme(clone).returncode == 0
    assert (clone / "README.md").read_text() == readme, "run `make readme`"
    shown = words(clone / FIGURE)
    assert words(root / FIGURE) == shown, "run `make readme`"
    own = [word for word in shown if word in stages.STAGES]
    assert own == ["import", "build", "load", "launch"], "without what all ways share, in this order"
    assert "pybind11" in shown and "host" not in shown


def test_markers_must_be_there(clone: Path) -> None:
    (clone / "README.md").write_text("no table here\n")
    done = make_readme(clone)
    assert done.returncode and "README.md has no `<!-- lessons:" in done.stderr
    assert (clone / "README.md").read_text() == "no table here\n"


def test_lesson_01_must_be_recorded(clone: Path) -> None:
    shutil.rmtree(clone / "book" / "results")
    assert "lesson 01 has not been recorded: `make record`" in make_readme(clone).stderr


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
