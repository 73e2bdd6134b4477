"""The binding in C++: each argument checked and converted, then the launch."""

from collections.abc import Iterator

import numpy as np

from fourways.package.fill import fill
from fourways.package.interface import Extent, Given, Interface, Value, element

_PLAIN = {"bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long"}
_PLAIN |= {"unsigned long", "long long", "unsigned long long", "float", "double", "float2", "double2"}
_C_TYPES = {"int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short"}
_C_TYPES |= {"int32": "int", "uint32": "unsigned", "int64": "long long", "uint64": "unsigned long long"}
_C_TYPES |= {"float16": "float", "complex64": "float2", "complex128": "double2"}
_FITS = """
// An extent as the kernel takes it, if it is not too large for that.
template <class T> T fits(const fourways::Array &array, long long extent)
{
    if (extent > std::numeric_limits<T>::max())
        throw array.argument.value_error("has shape " + fourways::text(array.shape) + "; the kernel counts to " +
                                         std::to_string(std::numeric_limits<T>::max()));
    return static_cast<T>(extent);
}
"""
_RANK = """
void check_dimensions(const fourways::Array &array, size_t wanted)
{
    if (array.shape.size() != wanted)
        throw array.argument.value_error("has shape " + fourways::text(array.shape) + "; wanted " +
                                         std::to_string(wanted) + " dimensions");
}
"""
_SHAPE = """
void check_shape(const fourways::Array &array, const fourways::Shape &wanted)
{
    if (array.shape != wanted)
        throw array.argument.value_error("has shape " + fourways::text(array.shape) + "; wanted " +
                                         fourways::text(wanted));
}
"""


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
    """The text of NAME.cu."""
    body = list(_body(face))
    elements = list(_elements(face))
    helpers = [text for call, text in (("fits<", _FITS), ("check_dimensions(", _RANK), ("check_shape(", _SHAPE))
               if any(call in line for line in body)]  # fmt: skip
    arguments = binding_arguments(face)
    headers = ["#include <algorithm>"] * (not face.case.has_launch) + ["#include <limits>"] * (_FITS in helpers)
    return fill(
        "binding.cu",
        name=name,
        kernel_file=face.case.path.name,
        headers="".join(f"{each}\n" for each in ["", *headers] if headers),
        elements="".join(elements),
        helpers="".join(helpers),
        arguments=", ".join(f'"{each}"' for each in arguments),
        body="\n".join(" " * 12 + line for line in body),
        launch="\n".join(" " * 16 + line for line in _launch(face)),
        signature=f"{name}({', '.join([*arguments, 'stream=None'])}) -> None",
    )


def _elements(face: Interface) -> Iterator[str]:
    """What NumPy calls the types of elements that the headers do not know."""
    types = {element(each.type): each.dtype for each in face.parameters.values() if each.is_pointer}
    for type, dtype in types.items():
        if type in _PLAIN:
            continue
        known = np.dtype(dtype) if dtype else None
        value = f'"{known.name}", "{known.str}", {known.itemsize}' if known else f'"", "", sizeof({type})'
        yield f"\ntemplate <> struct fourways::ElementOf<{type}> {{ static constexpr Element value{{{value}}}; }};\n"


def _body(face: Interface) -> Iterator[str]:
    names, parameters = face.names, face.parameters
    for name, parameter in parameters.items():
        if name in face.derived:
            continue
        what = f'("{names[name]}")'
        if parameter.is_pointer:
            const = "const " * (name not in face.case.outputs)
            yield f"const auto {names[name]} = call.array<{const}{element(parameter.type)}>{what};"
        elif parameter.kind == "struct":
            yield f"const auto {names[name]} = call.value<{parameter.type}>{what};"
        else:
            type = parameter.type if parameter.type in _PLAIN else _C_TYPES.get(parameter.dtype or "", parameter.type)
            yield f"const auto {names[name]} = call.scalar<{type}>{what};"
    if face.case.has_launch:
        yield 'const dim3 grid = call.extent("grid"), block = call.extent("block");'
        if face.has_shared:
            yield 'const auto shared = call.scalar<unsigned>("shared");'
    if _needs_size(face):
        name = names[face.size_name]
        yield f'const auto {name} = call.scalar<long long>("{name}");'
    for name, rank in face.ranks.items():
        yield f"check_dimensions({names[name]}, {rank});"
    for name, extent in face.derived.items():
        type = parameters[name].type
        text = value_text(face, extent)
        if np.dtype(parameters[name].dtype).itemsize < 8:
            text = f"fits<{type}>({names[extent.array]}, {text})"
        yield f"const {type} {names[name]} = {text};"
    for name, other in face.same.items():
        yield f"call.same_shape({names[other]}, {names[name]});"
    for name, shape in face.held.items():
        yield f"check_shape({names[name]}, {{{', '.join(value_text(face, each) for each in shape)}}});"
    for name, other in _separate(face):
        yield f"call.no_overlap({names[other]}, {names[name]});"


def value_text(face: Interface, value: Value) -> str:
    """A value in C++, as a long long."""
    if isinstance(value, Extent):
        array = face.names[value.array]
        return f"{array}.size" if value.axis is None else f"{array}.shape[{value.axis}]"
    if isinstance(value, Given):
        wide = face.parameters.get(value.name)
        text = face.names[value.name]
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
    arguments = ", ".join(_passed(face, name) for name in face.parameters)
    shape = "grid, block" + ", shared" * face.has_shared if face.case.has_launch else "blocks, threads"
    if not face.case.has_launch:
        yield "constexpr long long threads = 256;"
        size = value_text(face, face.size)
        size = next((face.names[name] for name, extent in face.derived.items() if name == face.case.size), size)
        size = f"({size} + threads - 1) / threads"
        yield "// one at least: a grid of no blocks is an error"
        yield f"const auto blocks = static_cast<unsigned>(std::max<long long>({size}, 1));"
    elif face.has_shared:
        yield "constexpr auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;"
        yield "if (shared > 48 * 1024) // bytes; more must be asked for"
        yield f"    if (const cudaError_t error = cudaFuncSetAttribute({face.case.entry}, most, shared))"
        yield "        return error;"
    yield f"{face.case.entry}<<<{shape}, {'0, ' * (not face.has_shared)}on>>>({arguments});"


def _passed(face: Interface, name: str) -> str:
    """An argument as the kernel takes it."""
    parameter, text = face.parameters[name], face.names[name]
    if parameter.is_pointer:
        only_read = parameter.kind == "output" and name not in face.case.outputs
        return f"const_cast<{parameter.type}>({text}.data)" if only_read else f"{text}.data"
    if parameter.kind == "struct" or parameter.type in _PLAIN:
        return text
    if (parameter.dtype or "").startswith("complex"):
        return f"{parameter.type}({text}.x, {text}.y)"
    return f"static_cast<{parameter.type}>({text})"
