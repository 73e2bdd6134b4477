"""What the tests of the host way share: without a C++ compiler they are skipped."""

import pytest

from fourways import toolchain


@pytest.fixture(scope="module", autouse=True)
def compiler() -> None:
    if reason := toolchain.missing("host compiler"):
        pytest.skip(reason)
