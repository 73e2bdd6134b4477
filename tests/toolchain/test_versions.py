"""Which version a program, a header, a library or a distribution has, and how versions compare."""

from pathlib import Path

import layouts
import numpy
import pytest

from fourways import toolchain


@pytest.mark.parametrize(("older", "newer"), [("13.0.88", "13.1"), ("9.2", "13.0"), ("13.2", "13.10"), (None, "11.0")])
def test_versions_compare_by_their_first_two_numbers(older: str | None, newer: str) -> None:
    assert toolchain.version(older) < toolchain.version(newer)
    assert toolchain.version(f"{newer}.88") == toolchain.version(newer)


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("Cuda compilation tools, release 13.0, V13.0.88", "13.0.88"),
        ("g++ (Debian 12.2.0-14) 12.2.0", "12.2.0"),
        ("no version", None),
    ],
)
def test_program_version(tmp_path: Path, printed: str, version: str | None) -> None:
    assert toolchain.program_version(layouts.script(tmp_path / "tool", f"echo '{printed}'")) == version


@pytest.mark.parametrize(("macro", "number", "version"), [("CUDART_VERSION", 12090, "12.9")])
def test_header_version(tmp_path: Path, macro: str, number: int, version: str) -> None:
    layouts.header(tmp_path / "version.h", macro, number)
    assert toolchain.header_version(tmp_path / "version.h") == version
    assert toolchain.header_version(tmp_path / "none.h") is None


def test_distributions() -> None:
    assert toolchain.distributions("numpy", "no-such-distribution") == {"numpy": numpy.__version__}
    assert len(toolchain.distributions(*toolchain.CUPY)) == 1
