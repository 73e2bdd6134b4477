"""The questions that lead to a way, as one page to keep."""

from typing import Any

from fourways import figures

QUESTIONS = (
    ("Do CuPy's functions or one\nElementwiseKernel do it?", "no kernel of your own", None, "00, 02"),
    ("Do users bring a function for your\nlarge, slowly compiled kernel?", "LTO-IR, linked at run time", None, "08"),
    ("Is the text known at run time only?", "CuPy with NVRTC", "nvrtc", "02"),
    ("Are GPUs newer than your toolkit?", "a cubin, with PTX beside it", None, "13"),
    ("May nothing compile where it runs?", "a cubin, with PTX beside it", None, "13"),
    ("Does C++ call it, too, or must it\ncheck its arguments?", "the pybind11 module", "pybind11", "05"),
    ("Are there millions of launches shorter\nthan 5 µs?", "a CUDA graph of them", None, "11"),
    ("Does NVRTC refuse the source?", "CuPy with NVCC", "nvcc", "03"),
    ("Is there PyCUDA code already?", "PyCUDA", "pycuda", "04"),
    ("None of these?", "CuPy with NVRTC", "nvrtc", "01"),
)
"""Each question, the answer to take at the first yes, its way if it is one, and the lessons behind it."""


def tree() -> Any:
    """Draw the questions from top to bottom; each yes leads to the form to take, with the lessons that show why."""
    drawn, ax = figures.new((6.4, 6.6))
    drawn.suptitle("Take the first form whose question you answer with yes")
    for number, (question, form, way, lessons) in enumerate(QUESTIONS):
        y, is_last = -number, number == len(QUESTIONS) - 1
        ax.text(0, y, question, ha="center", va="center", bbox=_box("#57606a"))
        colour = figures.COLOURS[way] if way else "#000000"
        ax.text(1.15, y, f"{form}\nlesson {lessons}", ha="center", va="center", bbox=_box(colour, width=2))
        ax.annotate("", (0.78, y), (0.44, y), arrowprops={"arrowstyle": "->"})
        if not is_last:
            ax.annotate("", (0, y - 0.68), (0, y - 0.32), arrowprops={"arrowstyle": "->"})
            ax.text(0.61, y + 0.05, "yes", ha="center", va="bottom")
            ax.text(0.03, y - 0.5, "no", va="center")
    ax.set(xlim=(-0.5, 1.5), ylim=(0.5 - len(QUESTIONS), 0.5))
    ax.axis("off")
    return drawn


def _box(colour: str, width: float = 1) -> dict[str, Any]:
    return {"boxstyle": "round", "facecolor": "none", "edgecolor": colour, "linewidth": width}
