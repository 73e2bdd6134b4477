"""What all tests share."""

from pathlib import Path

import pytest

import fourways

ROOT = Path(__file__).parents[1]
assert Path(fourways.__file__).is_relative_to(ROOT), f"the tests of {ROOT} would test {fourways.__file__}: make setup"


@pytest.fixture(scope="session")
def root() -> Path:
    """The clone."""
    return ROOT
