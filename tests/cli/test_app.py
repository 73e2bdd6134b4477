"""The command as a user meets it: help that teaches by example, and errors that end in one message and an exit code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from fourways import cli, toolchain

COMMANDS = list(get_command(cli.app).commands)


def fourways(*words: str, before: str = "pass", **options) -> subprocess.CompletedProcess[str]:
    """A process of its own: `before` is run in it first."""
    program = f"{before}; from fourways.cli import main; main()"
    options = {"env": toolchain.child_environment()} | options
    return subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, **options)


def test_help_names_every_command() -> None:
    shown = CliRunner().invoke(cli.app, ["--help"])
    assert shown.exit_code == 0
    assert [command for command in COMMANDS if f" {command} " not in shown.stdout] == []
    assert {"list", "doctor", "run", "time", "profile", "timeline", "book", "install-pycuda"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_by_example(command: str) -> None:
    shown = CliRunner().invoke(cli.app, [command, "--help"])
    assert shown.exit_code == 0
    _usage, text = " ".join(shown.stdout.split()).split("Usage: ")[1].split(" ", 1)
    assert f"fourways {command} " in text.partition(" [OPTIONS] ")[2]
    assert "context" not in text.lower(), "what Typer hands over is no option"


def test_a_lesson_that_is_not_there_ends_with_2() -> None:
    done = fourways("check", "99")
    assert done.returncode == 2 and "no lesson '99'; there are: 00_two_workflows, 01_doublify" in done.stderr
    assert "Traceback" not in done.stderr


def test_outside_a_clone_every_command_ends_with_1(tmp_path: Path) -> None:
    done = fourways("list", env=toolchain.child_environment() | {"FOURWAYS_ROOT": str(tmp_path)}, cwd=tmp_path)
    assert done.returncode == 1 and "no clone of Four Ways found" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_flaw_of_our_own_keeps_its_traceback() -> None:
    done = fourways("list", before="from fourways import kernels; kernels.root = lambda: 1 / 0")
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr and "Traceback" in done.stderr


def test_the_doctor_works_without_numpy() -> None:
    done = fourways("doctor", "--json", before="import sys; sys.modules['numpy'] = None")
    assert done.stdout.startswith("{") and "Traceback" not in done.stderr


def test_an_output_of_another_encoding_gets_plain_signs(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "latin-1", "COLUMNS": "100"}
    text = """import sys
from fourways.cli import main, options
sys.modules["fourways.cli.app"].app = lambda: options.say("1 – 2 µs → ☃")
main()
"""
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True)
    assert done.stdout.decode("latin-1") == "1 - 2 µs > ?\n"
