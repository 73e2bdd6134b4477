"""On a GPU: every way of every lesson is right at every awkward size; no experiment. `make smoke` runs this file."""

import subprocess
import sys

import pytest

from fourways import lesson, toolchain

WAYS = [(found.slug, way) for found in lesson.all_lessons() for way in found.meta["ways"]]


@pytest.mark.parametrize("slug, way", WAYS)
def test_way(slug: str, way: str) -> None:
    """In a process of its own: a kernel that ruins its GPU context ruins no other test."""
    command = [sys.executable, "-m", "fourways", "check", slug, "--way", way]
    done = subprocess.run(command, capture_output=True, text=True, env=toolchain.child_environment())
    assert done.returncode == 0, f"{way} of {slug}: {done.stderr}"
    assert any(line.split()[:1] == [way] and "right" in line for line in done.stdout.splitlines())
