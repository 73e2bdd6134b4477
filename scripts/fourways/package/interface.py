"""A case seen as a Python function: what its caller gives, and what is known without asking."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fourways import toolchain
from fourways.kernels import KernelCase, Parameter
from fourways.package import carried


@dataclass(frozen=True)
class Extent:
    """The number of elements of an array, or along one of its axes."""

    array: str
    axis: int | None = None

    def __str__(self) -> str:
        return f"{self.array}.size" if self.axis is None else f"{self.array}.shape[{self.axis}]"


@dataclass(frozen=True)
class Given:
    """An integer that the caller gives."""

    name: str

    def __str__(self) -> str:
        return self.name


Value = Extent | Given | int
Probe = Mapping[str, Any]


@dataclass(frozen=True)
class Interface:
    """A case seen as a Python function.

    `values` are all arguments of the kernel at a small size. The caller gives `arguments`, in the kernel's order, and
    `out` is for the outputs `allocated`. `derived` are the other integers. `same` maps an array to an earlier one of
    the same shape, and `agreed` holds the extents of arrays that share some with others. `shapes` are the extents of
    each of `allocated`, or None where nothing tells them. The launch depends on `size`, called `size_name`; `doubt` is
    a reason against taking it from an array. `has_shared` says whether the launch takes dynamic shared memory.
    """

    case: KernelCase
    values: Probe
    arguments: tuple[str, ...]
    allocated: tuple[str, ...]
    derived: Mapping[str, Extent]
    same: Mapping[str, str]
    agreed: Mapping[str, tuple[Value, ...]]
    shapes: Mapping[str, tuple[Value, ...] | None]
    size: Extent | Given | int
    size_name: str
    has_shared: bool
    doubt: str = ""

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The kernel's parameters by name, in their order."""
        return {each.name: each for each in self.case.signature.parameters}

    @property
    def arrays(self) -> list[str]:
        """The names of all arrays, in the kernel's order."""
        return [name for name, parameter in self.parameters.items() if parameter.is_pointer]

    def dtype(self, name: str) -> str | None:
        """The dtype of the numbers in an array, or of a scalar; None for structs."""
        return numbers(self.parameters[name], self.values[name])[0]

    def count(self, name: str) -> int:
        """The length of an array's last axis that makes one element of the kernel's: 4 for `float4 *`; else 0."""
        return numbers(self.parameters[name], self.values[name])[1]

    @cached_property
    def launch_text(self) -> str:
        """The case's own launch(), able to stand alone; empty where it has none."""
        return carried.launch_source(self.case) if self.case.has_launch else ""

    @cached_property
    def launch_values(self) -> int:
        """The number of values that launch() gives: 2, or 3 with the bytes of shared memory."""
        return len(carried.run_launch(self.launch_text, self.case, int(self.values[self.size_name]), self.values))

    @property
    def restricted(self) -> bool:
        """Whether the kernel's text says that its arrays share no memory."""
        there, _ = toolchain.declared(self.case.path, self.case.options)
        return "__restrict__" in there[self.case.entry.partition("<")[0]].written

    @property
    def asks_size(self) -> bool:
        """Whether the caller gives the size although it is no parameter of the kernel."""
        values = [self.size, *(each for shape in self.shapes.values() for each in shape or ())]
        return any(isinstance(each, Given) and each.name not in self.parameters for each in values)

    @property
    def like(self) -> str:
        """The first array among the arguments, whose library allocates the outputs; empty where there is none."""
        return next((name for name in self.arrays if name in self.arguments), "")

    @property
    def optional(self) -> bool:
        """Whether the function can allocate its outputs by itself; False where it has none to allocate."""
        known = all(self.shapes[name] is not None and self.dtype(name) for name in self.allocated)
        return known and bool(self.allocated and self.like)

    @property
    def ranks(self) -> dict[str, int]:
        """The number of dimensions of each array with an axis that counts."""
        wanted = [each for shape in self.held.values() for each in shape]
        counts = [each for each in [*self.derived.values(), *wanted, self.size] if isinstance(each, Extent)]
        counted = {each.array for each in counts if each.axis is not None} | {*self.case.launch_inputs}
        return {name: self.values[name].ndim for name in self.arrays if name in counted}

    @property
    def held(self) -> dict[str, tuple[Value, ...]]:
        """The shapes that are asked of arrays, other than that of another array."""
        new = {name: shape for name, shape in self.shapes.items() if name not in self.same and shape is not None}
        return {**self.agreed, **new}

    @property
    def told(self) -> list[str]:
        """Lines for people that say where each number comes from that the caller does not give."""
        lines = [f"{name} is {value}" for name, value in self.derived.items()]
        lines += [f"{name} has the shape of {other}" for name, other in self.same.items()]
        for name, shape in self.held.items():
            lines.append(f"{name} has shape {tuple_text(map(str, shape))}")
        if self.optional or not self.allocated:
            return [*lines, self._launch_told()]
        return [*lines, self._launch_told(), "no array tells what out must be: give it"]

    def _launch_told(self) -> str:
        """The line that says where the numbers of the launch come from."""
        is_given = isinstance(self.size, Given)
        if not self.case.has_launch:
            size = f"{self.size}, which the caller gives" if is_given else str(self.size)
            return f"the launch has blocks of 256 threads, and a thread for each of {size}"
        inputs = self.case.launch_inputs
        size = f"the caller gives {self.size}" if is_given else f"size is {self.size}"
        told = f"launch({', '.join(['size', *inputs])}): {'size is not used' if self.size == 0 else size}"
        shapes = [name for name in inputs if self.parameters[name].is_pointer]
        told += f"; it sees the shape of {' and of '.join(shapes)}" if shapes else ""
        return f"{told}; {self.doubt}" if self.doubt else told


def numbers(parameter: Parameter, value: Any) -> tuple[str | None, int]:
    """The dtype of the numbers in an argument, and the components of an element of CUDA's vector types; else 0."""
    if parameter.is_pointer and parameter.vector and value.dtype == parameter.vector[0]:
        return parameter.vector
    return parameter.dtype, 0


def tuple_text(items: Iterable[str]) -> str:
    """The items as Python writes a tuple."""
    listed = list(items)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"


def writer(names: Mapping[str, Any], size: str, extent: str, number: str) -> Callable[[Value], str]:
    """Return a function that writes a value by patterns, such as `{0.name}.shape[{1}]`.

    A pattern takes one of `names`, by the parameter's own name, and the number of an axis.
    """

    def written(value: Value) -> str:
        if isinstance(value, Extent):
            return (size if value.axis is None else extent).format(names[value.array], value.axis)
        return number.format(names[value.name]) if isinstance(value, Given) else str(value)

    return written
