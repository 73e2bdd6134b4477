"""The binding in C++: each argument checked and converted, then the launch."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fourways.package.case import PackageError
from fourways.package.fill import fill
from fourways.package.interface import Extent, Given, Interface, Value, element
from fourways.package.naming import free, in_cpp

_PLAIN = {"bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long"}
_PLAIN |= {"unsigned long", "long long", "unsigned long long", "float", "double", "float2", "double2"}
_C_TYPES = {"int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short"}
_C_TYPES |= {"int32": "int", "uint32": "unsigned", "int64": "long long", "uint64": "unsigned long long"}
_C_TYPES |= {
    "float32": "float",
    "float64": "double",
    "float16": "float",
    "complex64": "float2",
    "complex128": "double2",
}
_FITS = """
// An extent as the kernel takes it, if it is not too large for that.
template <class T> T fits(const Array &array, long long extent)
{
    if (extent > std::numeric_limits<T>::max())
        throw array.argument.value_error("has shape " + text(array.shape) + "; the kernel counts to " +
                                         std::to_string(std::numeric_limits<T>::max()));
    return static_cast<T>(extent);
}
"""
_RANK = """
void check_dimensions(const Array &array, size_t wanted)
{
    if (array.shape.size() != wanted)
        throw array.argument.value_error("has shape " + text(array.shape) + "; wanted " +
                                         std::to_string(wanted) + " dimensions");
}
"""
_SHAPE = """
void check_shape(const Array &array, const Shape &wanted)
{
    if (array.shape != wanted)
        throw array.argument.value_error("has shape " + text(array.shape) + "; wanted " +
                                         text(wanted));
}
"""
_VECTORS = """
// CUDA wants an array of T to begin at a multiple of T's alignment; T's numbers stand along the last axis.
template <class T> void check_vectors(const Array &array, long long count, const char *type)
{
    if (array.shape.empty() || array.shape.back() != count)
        throw array.argument.value_error("has shape " + text(array.shape) + "; wanted " + std::to_string(count) +
                                         " numbers along the last axis, those of a " + type);
    const auto address = reinterpret_cast<unsigned long long>(array.begin);
    if (array.size > 0 && address % alignof(T) != 0)
        throw array.argument.value_error("starts at address " + std::to_string(address) + "; wanted a multiple of " +
                                         std::to_string(alignof(T)) + ", as a " + type + " does");
}
"""
_MOST = 16  # arguments that fourways::def takes, beside the stream


def binding_arguments(face: Interface) -> list[str]:
    """The names of the arguments of the extension's function, in their order."""
    given = [face.names[name] for name in face.parameters if name in (*face.arguments, *face.allocated)]
    given += [face.names[face.size_name]] * _needs_size(face)
    return given + (["grid", "block"] + ["shared"] * face.has_shared if face.case.has_launch else [])


def _needs_size(face: Interface) -> bool:
    """Whether C++, too, needs a size that is no parameter: for the grid, or for the shape of an output."""
    held = [each for shape in face.held.values() for each in shape]
    return face.asks_size and (not face.case.has_launch or face.size in held)


def binding(face: Interface, name: str) -> str:
    """The text of NAME.cu. Raises PackageError for a kernel of too many parameters."""
    arguments = binding_arguments(face)
    if len(arguments) > _MOST:
        told = f"{name} would take {len(arguments)} arguments, and a binding takes {_MOST} at most"
        raise PackageError(f"{told}: put numbers of {face.case.entry} into a struct")

    def used(stand_ins: dict[str, str]) -> set[str]:
        return in_cpp(_text(replace(face, variables=stand_ins), name).rpartition("void bind(")[2])

    return _text(replace(face, variables=free(face.everything, used)), name)


def _text(face: Interface, name: str) -> str:
    body, arguments = list(_body(face)), binding_arguments(face)
    calls = {"fits<": _FITS, "check_dimensions(": _RANK, "check_shape(": _SHAPE, "check_vectors<": _VECTORS}
    helpers = "".join(text for call, text in calls.items() if any(call in line for line in body))
    headers = ["#include <algorithm>"] * (not face.case.has_launch) + ["#include <limits>"] * (_FITS in helpers)
    return fill(
        "binding.cu",
        name=name,
        kernel_file=face.case.path.name,
        headers="".join(f"{each}\n" for each in ["", *headers] if headers),
        elements="".join(_elements(face)),
        helpers=f"\nnamespace fourways {{\n{helpers}\n}} // namespace fourways\n" * bool(helpers),
        arguments=", ".join(f'"{each}"' for each in arguments),
        body="\n".join(" " * 12 + line for line in body),
        launch="\n".join(" " * 16 + line for line in _launch(face)),
        signature=f"{name}({', '.join([*arguments, 'stream=None'])}) -> None",
    )


def _elements(face: Interface) -> Iterator[str]:
    """What NumPy calls the types of elements that the headers do not know."""
    plain = [each for name, each in face.parameters.items() if each.is_pointer and not face.count(name)]
    types = {element(each.type): each.dtype for each in plain}
    for type, dtype in types.items():
        if type in _PLAIN:
            continue
        known = np.dtype(dtype) if dtype else None
        value = f'"{known.name}", "{known.str}", {known.itemsize}' if known else f'"", "", sizeof({type})'
        yield f"\ntemplate <> struct fourways::ElementOf<{type}> {{ static constexpr Element value{{{value}}}; }};\n"


def _body(face: Interface) -> Iterator[str]:
    names, variables, parameters = face.names, face.variables, face.parameters
    for name, parameter in parameters.items():
        if name in face.derived:
            continue
        what = f'("{names[name]}")'
        if parameter.is_pointer:
            const = "const " * (name not in face.case.outputs)
            type = _C_TYPES.get(face.dtype(name) or "", "") if face.count(name) else element(parameter.type)
            yield f"const auto {variables[name]} = call.array<{const}{type}>{what};"
        elif parameter.kind == "struct":
            yield f"const auto {variables[name]} = call.value<{parameter.type}>{what};"
        else:
            type = parameter.type if parameter.type in _PLAIN else _C_TYPES.get(parameter.dtype or "", parameter.type)
            yield f"const auto {variables[name]} = call.scalar<{type}>{what};"
    if face.case.has_launch:
        yield 'const dim3 grid = call.extent("grid"), block = call.extent("block");'
        if face.has_shared:
            yield 'const auto shared = call.scalar<unsigned>("shared");'
    if _needs_size(face):
        yield f'const auto {variables[face.size_name]} = call.scalar<long long>("{names[face.size_name]}");'
    for name in filter(face.count, face.arrays):
        type = element(parameters[name].type)
        yield f'fourways::check_vectors<{type}>({variables[name]}, {face.count(name)}, "{type}");'
    for name, rank in face.ranks.items():
        yield f"fourways::check_dimensions({variables[name]}, {rank});"
    for name, extent in face.derived.items():
        type = parameters[name].type
        text = value_text(face, extent)
        if np.dtype(parameters[name].dtype).itemsize < 8:
            text = f"fourways::fits<{type}>({variables[extent.array]}, {text})"
        yield f"const {type} {variables[name]} = {text};"
    for name, other in face.same.items():
        yield f"call.same_shape({variables[other]}, {variables[name]});"
    for name, shape in face.held.items():
        extents = ", ".join(value_text(face, each) for each in shape)
        yield f"fourways::check_shape({variables[name]}, {{{extents}}});"
    for name, other in _separate(face):
        yield f"call.no_overlap({variables[other]}, {variables[name]});"


def value_text(face: Interface, value: Value) -> str:
    """A value in C++, as a long long."""
    if isinstance(value, Extent):
        array = face.variables[value.array]
        return f"{array}.size" if value.axis is None else f"{array}.shape[{value.axis}]"
    if isinstance(value, Given):
        wide = face.parameters.get(value.name)
        text = face.variables[value.name]
        return f"static_cast<long long>({text})" if wide and wide.dtype == "uint64" else text
    return str(value)


def _separate(face: Interface) -> Iterator[tuple[str, str]]:
    """Each output with each other array that it must not share memory with, by the kernel's __restrict__."""
    if not face.restricted:
        return
    for number, output in enumerate(face.case.outputs):
        for other in face.arrays:
            if other != output and other not in face.case.outputs[:number]:
                yield output, other


def _launch(face: Interface) -> Iterator[str]:
    arguments = [_passed(face, name) for name in face.parameters]
    shape = "grid, block" + ", shared" * face.has_shared if face.case.has_launch else "blocks, threads"
    if not face.case.has_launch:
        yield "constexpr long long threads = 256;"
        size = value_text(face, face.size)
        size = next((face.variables[name] for name, extent in face.derived.items() if name == face.case.size), size)
        size = f"({size} + threads - 1) / threads"
        yield "// one at least: a grid of no blocks is an error"
        yield f"const auto blocks = static_cast<unsigned>(std::max<long long>({size}, 1));"
    elif face.has_shared:
        yield "constexpr auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;"
        yield "if (shared > 48 * 1024) // bytes; more must be asked for"
        yield f"    if (const cudaError_t error = cudaFuncSetAttribute(::{face.case.entry}, most, shared))"
        yield "        return error;"
    start = f"::{face.case.entry}<<<{shape}, {'0, ' * (not face.has_shared)}on>>>("
    if not arguments or len(start + ", ".join(arguments)) <= 100:
        yield f"{start}{', '.join(arguments)});"
    else:
        yield start
        yield from (f"    {argument}," for argument in arguments[:-1])
        yield f"    {arguments[-1]});"


def _passed(face: Interface, name: str) -> str:
    """An argument as the kernel takes it."""
    parameter, text = face.parameters[name], face.variables[name]
    if face.count(name):
        return f"reinterpret_cast<{parameter.type}>({text}.begin)"
    if parameter.is_pointer:
        only_read = parameter.kind == "output" and name not in face.case.outputs
        return f"const_cast<{parameter.type}>({text}.data)" if only_read else f"{text}.data"
    if parameter.kind == "struct" or parameter.type in _PLAIN:
        return text
    if (parameter.dtype or "").startswith("complex"):
        return f"{parameter.type}({text}.x, {text}.y)"
    return f"static_cast<{parameter.type}>({text})"
