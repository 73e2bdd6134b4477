"""The functions of `fourways_aot`, as tests with and without a GPU need them: right arguments, and what is wrong."""

from typing import Any

GOOD: dict[str, dict[str, Any]] = {
    "doublify": {"x": (4, 4), "y": (4, 4)},
    "saxpy": {"a": 2.5, "x": (4, 2), "y": (4, 2), "z": (4, 2)},
    "reduce": {"x": (4, 2), "total": (1,)},
    "device_reduce": {"x": (4, 2), "total": (1,)},
    "scan": {"x": (4, 2), "y": (4, 2)},
    "device_scan": {"x": (4, 2), "y": (4, 2)},
    "long_scan": {"x": (4, 2), "y": (4, 2)},
    "transpose": {"a": (2, 3), "b": (3, 2)},
    "stencil": {"u": (4, 8), "v": (4, 8)},
    "stencil_steps": {"u": (4, 8), "v": (4, 8), "steps": 2},
    "colmeans": {"x": (2, 3, 5), "means": (2, 5)},
    "apply_transform": {"x": (4, 2), "y": (4, 2)},
    "fir": {"x": (18,), "taps": (3,), "y": (16,)},
}
"""For each function its arguments by name and in order: the shape of an array of float32, or a number."""

OF_WRONG_SHAPE: list[tuple[str, dict[str, tuple[int, ...]], str]] = [
    ("doublify", {"x": (16,)}, "y has shape (4, 4); wanted (16,), the shape of x"),
    ("saxpy", {"y": (5,)}, "y has shape (5,); wanted (4, 2), the shape of x"),
    ("reduce", {"total": (2,)}, "total has shape (2,); wanted one element, as (1,)"),
    ("device_reduce", {"total": (2,)}, "total has shape (2,); wanted one element"),
    ("scan", {"y": (8,)}, "y has shape (8,); wanted (4, 2), the shape of x"),
    ("device_scan", {"y": (8,)}, "y has shape (8,); wanted (4, 2), the shape of x"),
    ("long_scan", {"y": (8,)}, "y has shape (8,); wanted (4, 2), the shape of x"),
    ("transpose", {"a": (6,)}, "a has shape (6,); wanted two dimensions"),
    ("transpose", {"b": (2, 3)}, "b has shape (2, 3); wanted (3, 2)"),
    ("stencil", {"u": (32,), "v": (32,)}, "u has shape (32,); wanted two dimensions, (height, width)"),
    ("stencil", {"v": (8, 4)}, "v has shape (8, 4); wanted (4, 8), the shape of u"),
    ("stencil_steps", {"v": (8, 4)}, "v has shape (8, 4); wanted (4, 8), the shape of u"),
    ("colmeans", {"x": (6, 5)}, "x has shape (6, 5); wanted three dimensions"),
    ("colmeans", {"means": (2, 3)}, "means has shape (2, 3); wanted (2, 5), a mean for each column"),
    ("apply_transform", {"y": (5,)}, "y has shape (5,); wanted (4, 2), the shape of x"),
    ("fir", {"x": (3, 6)}, "x has shape (3, 6); wanted one dimension"),
    ("fir", {"taps": (0,)}, "taps has 0 elements; wanted 1 to 2147483647"),
    ("fir", {"x": (16,)}, "x has shape (16,); wanted (18,), the elements of y and of taps together, less 1"),
]
"""A function, the arrays whose shape changes, and what is said of it. The error is a ValueError."""


def arrays(function: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the function's arrays by name."""
    return {name: shape for name, shape in GOOD[function].items() if isinstance(shape, tuple)}


def outputs(function: str) -> list[str]:
    """Return the names of the arrays that the function writes."""
    return ["u", "v"] if function == "stencil_steps" else [list(arrays(function))[-1]]
