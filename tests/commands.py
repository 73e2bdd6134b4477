"""The command `fourways`, run in this process."""

import pytest
from typer.testing import CliRunner, Result

from fourways import cli, toolchain

NO_GPU = pytest.mark.skipif(toolchain.missing("gpu") is None, reason="this machine has a GPU")


def fourways(*words: object) -> Result:
    """Run the command with these words."""
    return CliRunner().invoke(cli.app, [str(word) for word in words])


def said(done: Result) -> str:
    """What the command said on standard error and raised, in one line, without the frame around a usage error."""
    return " ".join(f"{done.stderr} {done.exception}".replace("│", "").split())
