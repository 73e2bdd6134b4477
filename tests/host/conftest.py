"""What the tests of the host way share: a cache of their own, in which every kernel is compiled once."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fourways import toolchain


@pytest.fixture(scope="module", autouse=True)
def cache(made_once: Callable[..., Path]) -> Iterator[None]:
    """A cache that begins empty and serves all workers of a run. Without a C++ compiler the tests are skipped."""
    if reason := toolchain.missing("host compiler"):
        pytest.skip(reason)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOURWAYS_CACHE_DIR", str(made_once("host-cache", lambda folder: None)))
        yield
