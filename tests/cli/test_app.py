"""The command as a user meets it: help that teaches by example, and errors that end in one message and an exit code."""

import contextlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from fourways import toolchain


def fourways(*words: str, before: str = "pass", **options) -> subprocess.CompletedProcess[str]:
    """A process of its own: `before` is run in it first."""
    program = f"{before}; from fourways.cli import main; main()"
    options = {"env": toolchain.child_environment()} | options
    return subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, **options)


def test_a_lesson_that_is_not_there_ends_with_2() -> None:
    done = fourways("check", "99")
    assert done.returncode == 2 and "no lesson '99'; there are: 00_two_workflows, 01_doublify" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_list_of_lessons_is_quick_because_it_loads_nothing_slow() -> None:
    loaded = "import atexit, sys; atexit.register(lambda: print([*sys.modules], file=sys.stderr))"
    done = fourways("list", before=loaded)
    assert "doublify" in done.stdout and done.returncode == 0
    assert [name for name in ("numpy", "jupytext", "nbformat", "nbclient", "cupy") if repr(name) in done.stderr] == []


def test_outside_a_clone_every_command_ends_with_1(tmp_path: Path) -> None:
    done = fourways("list", env=toolchain.child_environment() | {"FOURWAYS_ROOT": str(tmp_path)}, cwd=tmp_path)
    assert done.returncode == 1 and "no clone of Four Ways found" in done.stderr
    assert "Traceback" not in done.stderr


def command(body: str) -> str:
    """A program that runs the command with one more subcommand, `extra`."""
    lines = "\n    ".join(body.splitlines())
    imports = "import os, shutil, subprocess, tempfile\nfrom fourways import cli"
    return f"{imports}\n@cli.app.command()\ndef extra():\n    {lines}\ncli.main()"


def test_a_command_that_is_ended_ends_all_that_it_started(tmp_path: Path) -> None:
    body = """with tempfile.TemporaryDirectory(dir="."):
    subprocess.run(["sh", "-c", "setsid sh -c 'echo $$ > pid; sleep 600' & wait"])"""
    program = [sys.executable, "-c", command(body), "extra"]
    process = subprocess.Popen(program, env=toolchain.child_environment(), cwd=tmp_path, stderr=subprocess.PIPE)
    while not ((pid := tmp_path / "pid").exists() and pid.read_text()):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=60) == (None, b"") and process.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == [pid]
    with contextlib.suppress(psutil.NoSuchProcess):
        started = psutil.Process(int(pid.read_text()))
        while started.status() != psutil.STATUS_ZOMBIE:  # which a container's first process may leave so
            time.sleep(0.05)
