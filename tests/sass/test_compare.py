"""Listings of CuPy's two ways, and the number of lines in which two listings differ."""

import pytest

from fourways import kernels, sass
from fourways.sass.disassembly import Instruction

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
    assert "FMUL.FTZ" in {line.opcode for line in tripled} and sass.differing(lines, tripled) == 1


def test_a_line_that_only_one_has_differs() -> None:
    lines = sass.listing(DOUBLIFY)
    assert sass.differing(lines, lines) == 0
    assert sass.differing(lines, lines[:-1]) == sass.differing(lines[:-1], lines) == 1


def test_the_choice_of_registers_is_no_difference() -> None:
    def lines(*texts: str) -> list[Instruction]:
        return [Instruction("k", 16 * i, "", *text.split(" ", 1)) for i, text in enumerate(texts)]

    a = lines("LDG.E R0, desc[UR6][R2.64]", "FADD R5, R0, RZ", "ISETP.GE.AND P0, PT, R5, UR6, PT")
    b = lines("LDG.E R8, desc[UR4][R6.64]", "FADD R0, R8, RZ", "ISETP.GE.AND P3, PT, R0, UR4, PT")
    other = lines("LDG.E R8, desc[UR4][R6.64]", "FADD R0, R6, RZ", "ISETP.GE.AND P3, PT, R0, UR4, PT")
    assert sass.differing(a, b) == 0
    assert sass.differing(a, other) == 1
