"""The series of the page on precision, on the CPU."""

import re

import pytest

from fourways import lesson
from fourways.experiments import precision

PAGE = next(page for page in lesson.pages() if page.slug == "which_precision")
TEXT = re.findall(r'(?s)r"""(.*?)"""', PAGE.path.read_text("utf-8"))[0]


def test_a_wider_sum_leaves_one_rounding() -> None:
    pairs = [("double", "double"), ("float", "double"), ("float", "float")]
    errors = [row["error"] for row in precision.host_errors(TEXT, pairs, steps=1024).rows]
    assert errors[0] < 1e-13 < errors[1] <= 2**-24 < 10 * errors[1] < errors[2]


@pytest.mark.parametrize(
    ("stored", "summed", "half"), [("__half", "float", 1), ("float", "__half", 1), ("float", "float", 0)]
)
def test_half_needs_its_header(stored: str, summed: str, half: int) -> None:
    options = precision.options(stored, summed, 4)
    assert options[:3] == (f"-DSTORED={stored}", f"-DSUM={summed}", "-DSTEPS=4") and options[3:] == ("-DHALF",) * half
