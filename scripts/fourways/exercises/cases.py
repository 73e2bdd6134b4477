"""The judge of the page "Your own kernel": a kernel that smooths, and a case that must refuse wrong ones."""

import tempfile
from pathlib import Path

from fourways import building, checking, own_kernel

_RIGHT = """
extern "C" __global__ void smooth(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int first = max(i - 1, 0), last = min(i + 1, n - 1);
    float sum = 0;
    for (int k = first; k <= last; ++k) sum += x[k];
    y[i] = sum / (last - first + 1);
}
"""
_WRONG = {
    "copies x": _RIGHT.replace("sum / (last - first + 1)", "x[i]"),
    "takes thirds at the ends, too": _RIGHT.replace("(last - first + 1)", "3"),
    "is wrong by a tenth": _RIGHT.replace("= sum", "= 1.1f * sum"),
    "writes the first block's elements": _RIGHT.replace("if (i >= n)", "if (i >= n || blockIdx.x)"),
}


def check_smooth(kernel: str, case: str) -> str:
    """Judge the texts of `smooth(x, y, n)`, which takes a thread for each element, and of its case, by the host way."""
    if told := _fault(_RIGHT, case):
        return f"Not yet: your case refuses a kernel that is right: {told}"
    for what, text in _WRONG.items():
        if not _fault(text, case):
            return f"Not yet: with your case a kernel passes that {what}."
    if told := _fault(kernel, case):
        return f"Not yet: {told}"
    return "Right: the kernel is right, and your case takes it and refuses four wrong ones."


def _fault(kernel: str, case: str) -> str:
    """Return what is wrong with a kernel by a case, or ""."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"smooth.cu": kernel, "smooth_case.py": case}.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        try:
            checking.check(own_kernel.read(f"{folder}/smooth.cu", f"{folder}/smooth_case.py", 10).ways(["host"]))
        except (checking.CheckFailure, building.BuildError, RuntimeError, TypeError, ValueError) as error:
            return checking.not_yet(error).removeprefix("Not yet: ")
    return ""
