"""A machine made of folders."""

from pathlib import Path

import layouts
import pytest


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> layouts.Machine:
    return layouts.Machine(tmp_path, monkeypatch)
