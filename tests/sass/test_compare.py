"""Listings of CuPy's two ways."""

import pytest

from fourways import kernels, sass

DOUBLIFY = kernels.path("doublify")


@pytest.mark.parametrize("way", ["nvrtc", "nvcc"])
def test_doublify_as_cupy_compiles_it(way: str) -> None:
    """One load, one addition (2 * x is x + x) that flushes denormals to zero, one store."""
    lines = sass.listing(DOUBLIFY, way)
    assert [line.opcode.split(".E")[0] for line in lines if line.kind in ("global", "fp32")] == [
        "LDG",
        "FADD.FTZ",
        "STG",
    ]
    tripled = sass.listing(DOUBLIFY, way, ["-DFACTOR=3"])
    assert "FMUL.FTZ" in {line.opcode for line in tripled}
