"""The ways from Python to a kernel, and the functions of one kernel in several ways.

This module imports only the standard library and the style of plots, because timed processes import it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fourways import figures

GPU_SIZE = 2**26
"""Elements timed on a GPU: arrays several times larger than any L2 cache, small enough for a 4 GB card."""

HOST_SIZE = 2**22
"""Elements timed on the CPU."""

Question = tuple[tuple, Any, float, Mapping[int, int], float]


@dataclass(frozen=True)
class Way:
    """One way from Python to a kernel.

    `name` is that in tags, options and tables: a lesson's function is `<kernel>_<name>`, its cell `way-<name>`. `short`
    is its name in figures. `colour` is its colour in all figures, with a contrast of at least 3 to 1 on a white page,
    `dark_colour` that on a dark one. `needs` are tools and packages, as `toolchain.missing` names them. `on_host`: it
    computes on NumPy arrays, without a GPU. `has_own_streams`: its launches take no streams of CuPy's.
    """

    name: str
    short: str
    colour: str
    dark_colour: str
    needs: tuple[str, ...]
    on_host: bool = False
    has_own_streams: bool = False


WAYS: dict[str, Way] = {
    way.name: way
    for way in (
        Way("nvrtc", "NVRTC", "#005B94", "#4AA3DF", ("gpu", "cupy")),
        Way("nvcc", "NVCC", "#3A94C9", "#9AD4F7", ("gpu", "cupy", "nvcc", "host compiler")),
        Way("pycuda", "PyCUDA", "#B87500", "#F0B03C", ("gpu", "pycuda", "nvcc", "host compiler"), has_own_streams=True),
        Way("pybind11", "pybind11", "#007F5C", "#35C79B", ("gpu", "cupy", "fourways_aot")),
        Way("host", "CPU", "#6B7280", "#9AA3AF", ("host compiler",), on_host=True),
    )
}
"""The ways by name, in the order of all tables."""

figures.COLOURS.update({name: way.colour for name, way in WAYS.items()})


def missing(name: str) -> str | None:
    """The reason why a way cannot run here, with the remedy, or None."""
    from fourways import toolchain

    return next((reason for need in WAYS[name].needs if (reason := toolchain.missing(need))), None)


@dataclass
class Ways:
    """The functions of one kernel that do the same thing in different ways.

    `make_inputs(size)` returns a tuple of NumPy arrays and scalars; `reference(*inputs)` returns the expected output,
    an array of the dtype that the kernel writes; of several outputs a mapping, by name. Each of `functions`, keyed by
    way, takes `(*inputs, *outputs)` and writes the outputs: CuPy arrays for a GPU way, NumPy arrays for `host`. An
    output that `in_place` names by its number holds before what the input of the number beside it holds.
    `sizes` are those to check at, where they are the kernel's own. An answer may differ by `atol + rtol * abs(right)`.
    `missing` holds, for every way that cannot run on this machine, one line with the remedy.
    """

    kernel: str
    make_inputs: Callable[[int], tuple]
    reference: Callable
    functions: dict[str, Callable[..., None]]
    missing: dict[str, str] = field(default_factory=dict)
    rtol: float = 0.0
    sizes: tuple[int, ...] = ()
    in_place: Mapping[int, int] = field(default_factory=dict)
    atol: float = 0.0

    @property
    def runnable(self) -> dict[str, Callable[..., None]]:
        """The functions that can run on this machine, keyed by way."""
        return {way: function for way, function in self.functions.items() if way not in self.missing}

    def question(self, size: int) -> Question:
        """Return the inputs and the right outputs at a size, `rtol`, `in_place` and `atol`.

        These are the last arguments of `checking.verdict`.
        """
        inputs = self.make_inputs(size)
        return inputs, self.reference(*inputs), self.rtol, self.in_place, self.atol

    def called(self, way: str) -> str:
        """The name of a way in messages: `doublify_nvrtc`."""
        return f"{self.kernel}_{way}"

    def only(self, chosen: Collection[str]) -> "Ways":
        """Return these functions with the `chosen` ways alone."""
        functions = {way: function for way, function in self.functions.items() if way in chosen}
        missing = {way: why for way, why in self.missing.items() if way in chosen}
        return replace(self, functions=functions, missing=missing)


def is_host(way: str) -> bool:
    """Whether a way computes on NumPy arrays; "gpu", any way on the GPU, does not."""
    return way in WAYS and WAYS[way].on_host
