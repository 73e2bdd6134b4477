"""The binding on a fake CUDA runtime, built once a run."""

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_cuda import FakeCuda, build

from fourways import toolchain

copies = itertools.count()


@pytest.fixture(scope="session")
def built(made_once: Callable[..., Path]) -> Path:
    if not toolchain.host_compiler():
        pytest.skip(str(toolchain.missing("host compiler")))
    return made_once("fake", lambda folder: build(folder / "fourways_aot.so")) / "fourways_aot.so"


@pytest.fixture
def fake(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    """With CuPy not imported, unless the test imports it."""
    monkeypatch.delitem(sys.modules, "cupy")
    copy = tmp_path / f"copy{next(copies)}.so"
    copy.write_bytes(built.read_bytes())
    return FakeCuda(copy)
