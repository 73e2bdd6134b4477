"""A case seen as a Python function: what its caller gives, and what is known without asking."""

import keyword
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fourways import kernels
from fourways.kernels import Parameter
from fourways.package import carried
from fourways.package.case import Case

_OURS = {"out", "stream", "launch", "np", "call", "on", "grid", "block", "shared", "threads", "blocks", "most", "math"}
_OURS |= {"cupy", "expected", "pytest"}  # of the tests


@dataclass(frozen=True)
class Extent:
    """The number of elements of an array, or along one of its axes."""

    array: str
    axis: int | None = None


@dataclass(frozen=True)
class Given:
    """An integer that the caller gives."""

    name: str


Value = Extent | Given | int
Probe = Mapping[str, Any]


@dataclass(frozen=True)
class Interface:
    """A case seen as a Python function.

    `values` are all arguments of the kernel at a small size. The caller gives `arguments`, in the kernel's order, and
    `out` is for the outputs `allocated`. `derived` are the other integers. `same` names for an array an earlier one
    whose shape it has, `agreed` holds the extents of arrays some of which are those of others. `shapes` are the extents
    of each of `allocated`, or None where nothing tells them. `size` is what the launch depends on, called `size_name`,
    and `has_shared` whether it takes dynamic shared memory.
    """

    case: Case
    values: Probe
    arguments: tuple[str, ...]
    allocated: tuple[str, ...]
    derived: Mapping[str, Extent]
    same: Mapping[str, str]
    agreed: Mapping[str, tuple[Value, ...]]
    shapes: Mapping[str, tuple[Value, ...] | None]
    size: Extent | Given
    size_name: str
    has_shared: bool

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The kernel's parameters by name, in their order."""
        return {each.name: each for each in self.case.signature.parameters}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What the generated code calls a parameter: its name, unless that has a meaning there."""
        taken = (_OURS | {self.case.entry.partition("<")[0]}) - ({*self.allocated} & {"out"})
        everything = (*self.parameters, self.size_name)
        return {name: name + "_" * (keyword.iskeyword(name) or name in taken) for name in everything}

    @property
    def arrays(self) -> list[str]:
        """The names of all arrays, in the kernel's order."""
        return [name for name, parameter in self.parameters.items() if parameter.is_pointer]

    @cached_property
    def launch_text(self) -> str:
        """The case's own launch(), able to stand alone; empty where it has none."""
        return carried.launch_source(self.case) if self.case.has_launch else ""

    @cached_property
    def launch_values(self) -> int:
        """How many values that launch() gives: 2, or 3 with the bytes of shared memory."""
        return len(carried.run_launch(self.launch_text, self.case, int(self.values[self.size_name])))

    @property
    def restricted(self) -> bool:
        """Whether the kernel's text says that its arrays share no memory."""
        return "__restrict__" in kernels.parameters(self.case.source)[self.case.entry.partition("<")[0].strip()]

    @property
    def asks_size(self) -> bool:
        """Whether the caller gives the size although it is no parameter of the kernel."""
        return isinstance(self.size, Given) and self.size.name not in self.parameters

    @property
    def given_arrays(self) -> list[str]:
        """The arrays among the arguments."""
        return [name for name in self.arrays if name in self.arguments]

    @property
    def like(self) -> str:
        """The array whose library allocates the outputs; empty where there is none."""
        return next(iter(self.given_arrays), "")

    @property
    def optional(self) -> bool:
        """Whether the function can allocate the outputs by itself."""
        known = all(self.shapes[name] is not None and self.parameters[name].dtype for name in self.allocated)
        return known and bool(self.like)

    @property
    def ranks(self) -> dict[str, int]:
        """The number of dimensions of each array of which an axis counts."""
        wanted = [each for shape in self.held.values() for each in shape]
        counts = [each for each in [*self.derived.values(), *wanted, self.size] if isinstance(each, Extent)]
        found = {each.array for each in counts if each.axis is not None}
        return {name: self.values[name].ndim for name in self.arrays if name in found}

    @property
    def held(self) -> dict[str, tuple[Value, ...]]:
        """The shapes that are asked of arrays, other than that of another array."""
        new = {name: shape for name, shape in self.shapes.items() if name not in self.same and shape is not None}
        return {**self.agreed, **new}

    @property
    def told(self) -> list[str]:
        """What was found out, a line each, for people."""

        def text(value: Value) -> str:
            if isinstance(value, Extent):
                return f"{value.array}.size" if value.axis is None else f"{value.array}.shape[{value.axis}]"
            return value.name if isinstance(value, Given) else str(value)

        found = [f"{name} is {text(value)}" for name, value in self.derived.items()]
        found += [f"{name} has the shape of {other}" for name, other in self.same.items()]
        for name, shape in self.held.items():
            found.append(f"{name} has shape ({', '.join(map(text, shape))}{',' * (len(shape) == 1)})")
        return found if self.optional or not self.allocated else [*found, "no array tells what out must be: give it"]


def element(type: str) -> str:
    """What a pointer of this C type points to, without const."""
    return type.removeprefix("const ").removesuffix("*").strip()
