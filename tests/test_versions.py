"""What a release carries agrees: the version, its day, its tag."""

import re
import subprocess
import tomllib
from pathlib import Path

from fourways import __version__


def top_entry(root: Path) -> tuple[str, str]:
    """The version of the changelog's top entry, and its day or "unreleased"."""
    match = re.search(r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", (root / "CHANGELOG.md").read_text(), re.M)
    assert match, "## VERSION (unreleased), or the day as 2026-01-31"
    return match[1], match[2]


def test_one_version_and_one_day(root: Path) -> None:
    version, day = top_entry(root)
    citation = dict(re.findall(r"^(version|date-released): (.+)$", (root / "CITATION.cff").read_text(), re.M))
    assert tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"] == version == __version__
    assert citation == {"version": version} | ({"date-released": day} if day != "unreleased" else {})


def test_a_tag_is_the_version_of_a_release(root: Path) -> None:
    command = ["git", "-C", str(root), "tag", "--points-at", "HEAD", "v*"]
    version, day = top_entry(root)
    for tag in subprocess.run(command, capture_output=True, text=True).stdout.split():
        assert tag == f"v{version}" and day != "unreleased"
