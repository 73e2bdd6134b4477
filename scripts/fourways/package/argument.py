"""A parameter of the kernel as the templates see it: its names, its types and its text in Python and C++."""

from dataclasses import dataclass

import numpy as np

from fourways.kernels import Parameter
from fourways.package.interface import Interface

_HINTS = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
_C_TYPES = {"bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short"}
_C_TYPES |= {"uint16": "unsigned short", "int32": "int", "uint32": "unsigned", "int64": "long long"}
_C_TYPES |= {"uint64": "unsigned long long", "float16": "float", "float32": "float", "float64": "double"}
_C_TYPES |= {"complex64": "float2", "complex128": "double2"}


@dataclass(frozen=True, eq=False)
class Argument:
    """A parameter of the kernel, or the size of its launch, as the templates see it.

    `key` is the kernel's own name. Python says `name`, or `tested` in the package's tests, and `shape` for an array's
    shape. C++ says `variable` for what it is given, and `checked` for what it has checked; the struct `element_name`
    stands for elements that only nvcc knows. `constant` is the name of a struct's dtype; empty where it has no fields.
    """

    interface: Interface
    key: str
    name: str
    tested: str
    variable: str
    shape: str
    checked: str
    element_name: str
    constant: str

    @property
    def parameter(self) -> Parameter | None:
        """The kernel's parameter; None for a size that is none."""
        return self.interface.parameters.get(self.key)

    @property
    def is_array(self) -> bool:
        return bool(self.parameter and self.parameter.is_pointer)

    @property
    def is_struct(self) -> bool:
        """Whether the kernel takes a struct by value."""
        return bool(self.parameter and self.parameter.kind == "struct")

    @property
    def is_output(self) -> bool:
        return self.key in self.interface.case.outputs

    @property
    def dtype(self) -> str | None:
        """The dtype of a number, or of those in an array; None for structs."""
        return self.interface.dtype(self.key) if self.parameter else "int64"

    @property
    def kind(self) -> str:
        """NumPy's letter for the dtype's kind."""
        return np.dtype(self.dtype or "V").kind

    @property
    def is_integer(self) -> bool:
        """Whether the kernel takes a whole number by value."""
        return self.kind in "iu" and not self.is_array

    @property
    def is_whole(self) -> bool:
        """Whether launch() gets a whole number, or a truth value."""
        return self.kind in "biu"

    @property
    def numpy_type(self) -> str:
        """NumPy's type for a number, such as `np.float32`."""
        return f"np.{self.dtype}".replace("np.bool", "np.bool_")

    @property
    def hint(self) -> str:
        """The type that Python's users see."""
        if self.is_array:
            return "Array"
        return _HINTS.get(self.kind) or ("np.ndarray | np.void" if self.constant else "Any")

    @property
    def converted(self) -> str:
        """The expression for a number of the caller's that launch() gets: it is checked before the binding does."""
        return f'_number("{self.name}", {self.name}, {"operator.index" if self.is_whole else "float"})'

    @property
    def bytes(self) -> int:
        """The size of a struct, or of an element of an array."""
        return self.interface.values[self.key].dtype.itemsize

    @property
    def struct(self) -> str:
        """The C++ type of a struct, or of an array's element."""
        return self.parameter.element if self.parameter else ""

    @property
    def rank(self) -> int:
        """The number of dimensions that an array must have because one of its axes counts; else 0."""
        return self.interface.ranks.get(self.key, 0)

    @property
    def count(self) -> int:
        """The number of components in each element of an array of a vector type; else 0."""
        return self.interface.count(self.key) if self.is_array else 0

    @property
    def alignment(self) -> int:
        """The bytes that CUDA aligns a vector type to."""
        if self.struct.endswith("_32a"):
            return 32
        item = np.dtype(self.dtype).itemsize
        return item if self.count == 3 else min(16, item * self.count)

    @property
    def natural_alignment(self) -> int:
        """The bytes that C++ aligns such an element to, if nothing else is said."""
        return _natural_alignment(self.interface.values[self.key].dtype)

    @property
    def number(self) -> str:
        """The C++ type of a number, or of the numbers in an array; empty where g++ knows none."""
        return "" if not self.dtype or (self.dtype == "float16" and self.is_array) else _C_TYPES[self.dtype]

    @property
    def element(self) -> str:
        """The C++ type of an array's elements in NAME.cpp."""
        return self.number or self.element_name

    @property
    def const(self) -> str:
        return "" if self.is_output else "const "

    @property
    def bound_type(self) -> str:
        """The type of the argument that pybind11 gives to C++."""
        if self.is_array or self.is_struct:
            return "py::object"
        if self.kind == "c":
            return f"std::complex<{'float' if self.dtype == 'complex64' else 'double'}>"
        return "double" if self.kind == "f" else self.number

    @property
    def launcher_type(self) -> str:
        """The type of the argument that NAME.cpp gives to NAME.cu."""
        if self.is_array:
            return f"{self.const}{self.number or 'void'} *"
        return "const void *" if self.is_struct else f"{self.number} "

    @property
    def handed(self) -> str:
        """The expression in NAME.cpp for the launcher's argument."""
        if self.is_array or self.is_struct:
            return f"{self.checked}.{'data()' if self.is_struct else 'data'}"
        if self.key in self.interface.derived or self.dtype in ("float16", "float32"):
            return self.checked
        if self.kind == "c":
            return f"{self.number}{{{self.variable}.real(), {self.variable}.imag()}}"
        return self.variable

    @property
    def passed(self) -> str:
        """The expression in NAME.cu for the kernel's argument."""
        assert self.parameter
        type, text = self.parameter.type, self.variable
        if self.is_struct:
            return f"*static_cast<const {type} *>({text})"
        if self.is_array:
            if not self.is_output and (self.parameter.kind == "output" or not type.startswith("const ")):
                text = f"const_cast<{self.number or 'void'} *>({text})"
            if self.struct == self.number:
                return text
            return f"{'reinterpret' if self.number else 'static'}_cast<{type}>({text})"
        if type == self.number:
            return text
        return f"{type}({text}.x, {text}.y)" if self.kind == "c" else f"static_cast<{type}>({text})"

    @property
    def whole(self) -> str:
        """An integer in C++, as a long long."""
        return f"static_cast<long long>({self.variable})" if self.dtype == "uint64" else self.variable


def _natural_alignment(dtype: np.dtype) -> int:
    return max((_natural_alignment(each[0]) for each in (dtype.fields or {}).values()), default=dtype.base.alignment)
