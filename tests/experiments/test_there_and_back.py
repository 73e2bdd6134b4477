"""The judge of lesson 01's exercise, and the figure of its comparison."""

import pytest

from fourways.experiments import there_and_back
from fourways.tables import Table

OWNER = """
extern "C" __global__ void owner(int *y, long long n)
{
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (long long i = START; i < n; i += STEP)
        DO;
}
"""
SERIAL = 'extern "C" __global__ void owner(int *y, long long n) { if (!threadIdx.x) for (long long i = 0; i < n; ++i) '


def owner(start: str = "thread", step: str = "(long long)gridDim.x * blockDim.x", do: str = "mark(y + i)") -> str:
    return OWNER.replace("START", start).replace("STEP", step).replace("DO", do)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no kernel `owner`"),
        ("/* owner */", "no kernel `owner`"),
        ('extern "C" __global__ void owner(int *y, long long n) { marks(y); }', "‘marks’ was not declared"),
        (owner().replace('extern "C" ', ""), "must be extern"),
        (owner().replace("i < n", "i <= n"), "element 0 of y, which has"),
        (owner(start="threadIdx.x", step="blockDim.x"), "more than once"),
        (owner(step="blockDim.x"), "more than once"),
        (owner(step="n"), "no thread marked it"),
        (owner(do="y[i] = thread"), "no thread marked it"),
        (SERIAL + "mark(y + i); }", "thread 0 marked it"),
        (SERIAL + "y[i] = SECRET + i; }", "‘SECRET’ was not declared"),
        (SERIAL + "threadIdx.x = i, mark(y + i); }", "changes a thread's own number"),
        (owner(start="0", step="1", do="if (i % (gridDim.x * blockDim.x) >= thread) mark(y + i)"), "more than once"),
        (SERIAL + "y[i] = i % (gridDim.x * blockDim.x); }", "no thread marked it"),
    ],
)
def test_wrong_owners_are_told_where(text: str, told: str) -> None:
    said = there_and_back.check_owner(text)
    assert said.startswith("Not yet: ") and told in said, said


def test_a_grid_stride_loop_is_right() -> None:
    assert there_and_back.check_owner(owner()).startswith("Right")
    bounded = owner().replace("void owner", "void __launch_bounds__(256) owner")
    assert there_and_back.check_owner(bounded).startswith("Right")


def test_the_figure_s_title_has_the_largest_row_s_numbers() -> None:
    row = {"elements": 1024, "numpy_seconds": {"median": 2e-6}, "gpu_seconds": {"median": 14e-6}}
    last = {"elements": 2**20, "numpy_seconds": {"median": 0.25}, "gpu_seconds": {"median": 0.5}}
    rows = [row | {"gpu_copies_seconds": {"median": 30e-6}}, last | {"gpu_copies_seconds": {"median": 0.75}}]
    title = there_and_back.figure(Table("against_numpy", rows))._suptitle.get_text().replace("\n", " ")
    assert title == "1,048,576 floats: NumPy 250 ms, the GPU with both copies 750 ms"
