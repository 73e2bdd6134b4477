"""The whole book, built once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from browser import browser  # noqa: F401 (a fixture)
from typer.main import get_command

from fourways import book, cli


@pytest.fixture(scope="module")
def real(made_once: Callable[..., Path]) -> Path:
    """The folder of the built book."""
    pytest.importorskip("jupyter_book")
    return made_once("real", lambda folder: book.build(get_command(cli.app), folder / "book")) / "book"
