"""What all tests share."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))  # the clone's own package, installed or not


@pytest.fixture(scope="session")
def root() -> Path:
    """The clone."""
    return ROOT
