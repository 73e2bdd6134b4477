"""The benchmarks of `make bench` as a program: what they print where nothing is timed."""

import subprocess
import sys
from pathlib import Path

import pytest

from fourways import toolchain


def bench(root: Path, *groups: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "tests" / "bench"), *groups]
    return subprocess.run(command, env=toolchain.child_environment(), capture_output=True, text=True)


def test_recorded_targets_are_printed_beside_their_aims(root: Path) -> None:
    done = bench(root, "targets")
    assert done.returncode == 0, done.stderr
    assert "largest error of the model" in done.stdout and "1.95 at least" in done.stdout


@pytest.mark.skipif(not toolchain.missing("gpu"), reason="this machine has a GPU")
def test_without_a_gpu_a_group_says_so(root: Path) -> None:
    done = bench(root, "calls", "speed", "clocks", "gpu_builds")
    assert done.returncode == 0 and done.stdout.count("skipped: ") == 4


@pytest.mark.parametrize("group", ["calls", "speed", "clocks", "gpu_builds", "builds"])
def test_every_group_can_be_imported(group: str, root: Path) -> None:
    places = [str(root / "tests" / "bench"), str(root / "tests")]
    source = f"import sys; sys.path[:0] = {places!r}; import {group}; {group}.tables"
    done = subprocess.run([sys.executable, "-c", source], env=toolchain.child_environment(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_a_group_that_is_none(root: Path) -> None:
    done = bench(root, "cals")
    assert done.returncode == 2 and "there is no group cals; there are: calls, speed, " in done.stderr
