"""The page "Your own kernel": its mistakes, and the judge of kernels that readers write."""

import re
from pathlib import Path

import pytest

from fourways.experiments import own_kernel

CASES = Path(__file__).parents[1] / "cases"


def judged(name: str, old: str = "", new: str = "") -> str:
    """Judge a kernel of tests/cases, with a change in its text or in its case."""
    kernel, case = ((CASES / f"{name}{suffix}").read_text() for suffix in (".cu", ".py"))
    assert old in kernel + case
    return own_kernel.judge(kernel.replace(old, new), case.replace(old, new))


@pytest.mark.parametrize("name", ["dot", "mark"])
def test_any_right_kernel_passes(name: str) -> None:
    said = judged(name)
    assert re.fullmatch(r"Right at (\d+ sizes, from \d+ to|size) [\d,]+; no race was found\.", said), said


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("grey", "reference", "preference", "Not yet: mine_case.py: it defines no function reference"),
        ("grey", "y[i] =", "y[i] +=", "Not yet: mine_host, size 1"),
        ("grey", "unsigned n)", "unsigned n", "Not yet: "),
        ("axpy", "np.float32(0.5)", "np.float32(0)", "Not yet: with this case a kernel that does nothing passes"),
        ("axpy", "rtol, atol = 1e-6", "rtol, atol = 1", "Not yet: with this case a kernel whose numbers are wrong by"),
        ("squares", "np.arange(n) ** 2", "np.arange(n) * 0 + 7", "Not yet: with this case a kernel that writes one"),
        ("reverse", "__syncthreads();", "", "Not yet: mine_host, size 31: element 0 is -1, expected 30"),
        (
            "histogram",
            "atomicAdd(&counts[bin], mine[bin])",
            "counts[bin] += mine[bin]",
            "Not yet: right, but mine_host",
        ),
    ],
)
def test_what_is_wrong_is_said(name: str, old: str, new: str, said: str) -> None:
    assert judged(name, old, new).startswith(said.replace("mine_host", f"{name}_host"))


@pytest.mark.long
def test_the_mistakes_are_found_by_the_check_the_search_or_larger_inputs() -> None:
    rows = [(row["kernel"], row["check"] == "right", "race" in row["sanitize"]) for row in own_kernel.mistakes().rows]
    assert rows[1:] == [
        ("reverse", False, True),
        ("histogram", True, True),
        ("column_sums", True, True),  # "no race was found"
        ("column_sums", False, True),
    ]
