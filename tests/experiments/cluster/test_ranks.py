"""Ranks that come through, and ranks that do not: who is named, and that no process is left."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import rank_targets

from fourways.experiments import cluster

TESTS = Path(rank_targets.__file__).parent
CHILD = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "scripts")])}


def test_what_each_rank_returns_by_rank() -> None:
    assert cluster.run_ranks(rank_targets.squares, 3, (5,)) == [25, 36, 49]


def test_rank_0_shares_its_bytes() -> None:
    assert cluster.run_ranks(rank_targets.shared, 3) == [b"of rank 0"] * 3


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("raises", "rank 1 of 2 raised ValueError: no kernel while alone"),
        ("dies", "rank 1 of 2 ended with exit code 3 while alone: last words"),
        ("is killed", "rank 1 of 2 ended with SIGKILL while alone"),
        ("sleeps", "not all 2 ranks are done after 10 s: rank 0 is waiting for all; rank 1 is alone"),
    ],
)
def test_a_rank_that_fails_is_named_and_none_is_left(how: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(cluster.RanksError) as raised:
        cluster.run_ranks(rank_targets.fails, 2, (how, str(tmp_path)), limit=10 if how == "sleeps" else 30)
    assert str(raised.value) == said, "noticed at once, not when the limit is over"
    assert any(tmp_path.glob("1-*")) and not alive(tmp_path)


def test_a_rank_that_cannot_start_is_quoted() -> None:
    script = "import rank_targets\nfrom fourways.experiments.cluster import run_ranks\n"
    script += "run_ranks(rank_targets.squares, 1, (5,))"
    done = subprocess.run([sys.executable, "-"], input=script, env=CHILD, capture_output=True, text=True, timeout=60)
    said = done.stderr.splitlines()[-1]  # a script from standard input is no file that a fresh process could import
    assert "rank 0 of 1 ended with exit code 1 while starting: FileNotFoundError" in said and "<stdin>" in said


def test_ranks_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    call = f"cluster.run_ranks(rank_targets.fails, 2, ('sleeps', {str(tmp_path)!r}))"
    script = f"import rank_targets\nfrom fourways.experiments import cluster\n{call}"
    with subprocess.Popen([sys.executable, "-c", script], env=CHILD) as parent:
        assert comes_true(lambda: len(alive(tmp_path)) == 2)
        parent.kill()
    assert comes_true(lambda: not alive(tmp_path))


def comes_true(condition: Callable[[], bool]) -> bool:
    """Whether it is true within 30 s."""
    end = time.monotonic() + 30
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def alive(folder: Path) -> list[str]:
    """The files RANK-PROCESS of processes that have not ended."""
    return [file.name for file in folder.iterdir() if Path("/proc", file.name.partition("-")[2]).exists()]
