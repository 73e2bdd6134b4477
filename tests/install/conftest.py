"""A stand-in for pip: what takes minutes or a network, it does at once and without."""

import os
import sys

import pytest
from layouts import Pip


@pytest.fixture
def pip(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Pip:
    stand_in = Pip(tmp_path_factory.mktemp("pip"))
    monkeypatch.setenv("PYTHONPATH", f"{stand_in.folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setattr(sys, "path", [str(stand_in.folder), *sys.path])  # else, without any pip, uv is asked for one
    return stand_in
