"""The README: its made parts are up to date, and its words are true of the tree."""

import re
from pathlib import Path

import pytest

from fourways import cli, readme


def test_table_and_figure_are_up_to_date(root: Path) -> None:
    text = (root / "README.md").read_text()
    assert readme.readme(text) == text, "run `make readme`"
    drawn = (root / readme.FIGURE).read_text()
    panels, device = readme.first_results()
    assert device in drawn
    for bars in panels.values():
        for way, stages in bars.items():
            assert way in drawn and f"{sum(stages.values()):#.3g} s" in drawn, "run `make readme`"


def test_markers_must_be_there() -> None:
    with pytest.raises(ValueError, match="lessons"):
        readme.readme("no table here")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere_and_commands_exist(root: Path, name: str) -> None:
    text = (root / name).read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or (root / target).exists(), target
    targets = re.findall(r"^([\w-]+):", (root / "Makefile").read_text(), re.MULTILINE)
    commands = re.findall(r"`make ([a-z]+)|^make ([a-z]+)", text, re.MULTILINE)
    assert {first or second for first, second in commands} <= set(targets)
    subcommands = set(re.findall(r"fourways ([a-z-]+)", text)) - {"package"}
    assert subcommands <= {command.name or command.callback.__name__ for command in cli.app.registered_commands}
