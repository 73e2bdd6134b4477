"""The machine code of the page on the road to the roof."""

from fourways import kernels
from fourways.experiments import roof


def test_machine_code() -> None:
    """A loop of the complete kernel that the compiler unrolls costs a division; kept as it is, it costs none."""
    source, one = kernels.source("stencil"), ("-DROWS=1", "-DCOLUMNS=1")
    loop = "        for (long long x = left;"
    assert source.count(loop) == 1, "the page replaces it"
    kept = source.replace(loop, f"#pragma unroll 1\n{loop}")
    unrolled, as_it_is = roof.machine_code({"unrolled": (source, one), "kept": (kept, one)}).rows
    assert unrolled["calls"] and not as_it_is["calls"]
    assert unrolled["instructions"] > as_it_is["instructions"] > as_it_is["loads"] > 0
