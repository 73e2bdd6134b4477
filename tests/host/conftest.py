"""What the tests of the host way share: a cache of their own, in which every kernel is compiled once."""

from collections.abc import Iterator

import pytest

from fourways import toolchain


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache that begins empty. Without a C++ compiler the tests are skipped, with the reason."""
    if reason := toolchain.missing("host"):
        pytest.skip(reason)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOURWAYS_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "host-cache"))
        yield
