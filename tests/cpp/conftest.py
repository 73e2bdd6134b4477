"""The binding on a fake CUDA runtime, built once."""

import itertools
import sys
from pathlib import Path

import pytest
from fake_cuda import FakeCuda, build

from fourways import toolchain

copies = itertools.count()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not toolchain.host_compiler():
        pytest.skip(str(toolchain.missing("host")))
    library = tmp_path_factory.mktemp("fake") / "fourways_aot.so"
    build(library)
    return library


@pytest.fixture
def fake(built: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    """With CuPy not imported, unless the test imports it."""
    monkeypatch.delitem(sys.modules, "cupy")
    copy = built.with_name(f"copy{next(copies)}.so")
    copy.write_bytes(built.read_bytes())
    return FakeCuda(copy)
