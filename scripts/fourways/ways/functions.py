"""The functions of one kernel that do the same thing in different ways."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fourways.kernels import InputError
from fourways.ways.way import WAYS

GPU_SIZE = 2**26
"""Elements timed on a GPU: arrays several times larger than any L2 cache, small enough for a 4 GB card."""

HOST_SIZE = 2**22
"""Elements timed on the CPU."""

Question = tuple[tuple, Any, float, Mapping[int, int], float]


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

        They are the last arguments of `checking.verdict` and of `measuring.Judged`.
        """
        inputs = self.make_inputs(size)
        return inputs, self.reference(*inputs), self.rtol, self.in_place, self.atol

    def called(self, way: str) -> str:
        """The name of a way in messages: `doublify_nvrtc`, or with several files `a.cu, nvrtc`."""
        return str(way) if isinstance(way, Variant) else f"{self.kernel}_{way}"

    def only(self, chosen: Collection[str]) -> "Ways":
        """Return these functions with the `chosen` ways alone."""
        functions = {way: function for way, function in self.functions.items() if way in chosen}
        missing = {way: why for way, why in self.missing.items() if way in chosen}
        return replace(self, functions=functions, missing=missing)


class Variant(str):
    """The name in tables of a way of one of several files, such as `a.cu, nvrtc`, with its `way`."""

    way: str

    def __new__(cls, file: str, way: str) -> "Variant":
        named = super().__new__(cls, f"{file}, {way}")
        named.way = way
        return named


def is_host(way: str) -> bool:
    """Whether a way, or a variant's, computes on NumPy arrays; "gpu", any way on the GPU, does not."""
    known = WAYS.get(way.way if isinstance(way, Variant) else way)
    return known is not None and known.on_host


def side_by_side(variants: Mapping[str, Ways]) -> Ways:
    """The ways of several kernels that do the same thing, each a `Variant`; the first kernel's reference judges.

    Raises InputError where they do not take the same arguments.
    """
    first, *others = variants
    kinds = {name: _kinds(ways) for name, ways in variants.items()}
    for name in others:
        if kinds[name] != kinds[first]:
            raise InputError(f"{first} takes {', '.join(kinds[first])}, {name} {', '.join(kinds[name])}: no variants")
    functions: dict[str, Callable[..., None]] = {
        Variant(name, way): run for name, ways in variants.items() for way, run in ways.functions.items()
    }
    missing: dict[str, str] = {
        Variant(name, way): why for name, ways in variants.items() for way, why in ways.missing.items()
    }
    return replace(variants[first], functions=functions, missing=missing)


def _kinds(ways: Ways) -> list[str]:
    import numpy as np  # not above: see ways/way.py

    inputs = ways.make_inputs(next((size for size in ways.sizes if size), 5))
    expected = ways.reference(*inputs)
    outputs = expected.values() if isinstance(expected, Mapping) else [expected]
    return [f"{value.dtype}{'[]' if isinstance(value, np.ndarray) else ''}" for value in (*inputs, *outputs)]
