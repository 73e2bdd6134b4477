"""The table of ways from Python to a kernel.

This module imports only the standard library and the style of plots, because the timed processes import it.
"""

from dataclasses import dataclass

from fourways import figures


@dataclass(frozen=True)
class Way:
    """One way from Python to a kernel.

    `name` is that in tags, options and tables: a lesson's function is `<kernel>_<name>`, its cell `way-<name>`. `short`
    is its name in figures. `colour` is its colour in all figures, with a contrast of at least 3 to 1 on a white page,
    `dark_colour` that on a dark one. `needs` are tools and packages, as `toolchain.missing` names them. `on_host`: it
    computes on NumPy arrays, without a GPU. `has_own_streams`: its launches take streams of its own library, and none
    of CuPy's.
    """

    name: str
    short: str
    colour: str
    dark_colour: str
    needs: tuple[str, ...]
    on_host: bool = False
    has_own_streams: bool = False


_TABLE = (
    Way("nvrtc", "NVRTC", "#005B94", "#4AA3DF", ("gpu", "cupy")),
    Way("nvcc", "NVCC", "#3A94C9", "#9AD4F7", ("gpu", "cupy", "nvcc", "host compiler")),
    Way("pycuda", "PyCUDA", "#B87500", "#F0B03C", ("gpu", "pycuda", "nvcc", "host compiler"), has_own_streams=True),
    Way("pybind11", "pybind11", "#007F5C", "#35C79B", ("gpu", "cupy", "fourways_aot")),
    Way("host", "CPU", "#6B7280", "#9AA3AF", ("host compiler",), on_host=True),
)

WAYS: dict[str, Way] = {way.name: way for way in _TABLE}
"""The ways by name, in the order of all tables."""

figures.COLOURS.update({way.name: way.colour for way in _TABLE})


def missing(name: str) -> str | None:
    """The reason why a way cannot run here, with the remedy, or None. Raises ValueError for a name that no way has."""
    from fourways import toolchain

    if name not in WAYS:
        raise ValueError(f"no way {name!r}; there are: {', '.join(WAYS)}")
    return next((reason for need in WAYS[name].needs if (reason := toolchain.missing(need))), None)
