"""The binding in C++: NAME.cpp, which checks each argument, and NAME.cu, which launches the kernel."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from fourways.package.fill import fill
from fourways.package.interface import Extent, Given, Interface, Value, element
from fourways.package.naming import free, in_cpp

_WIDTH = 100
_C_TYPES = {"bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short"}
_C_TYPES |= {"uint16": "unsigned short", "int32": "int", "uint32": "unsigned", "int64": "long long"}
_C_TYPES |= {"uint64": "unsigned long long", "float16": "float", "float32": "float", "float64": "double"}
_C_TYPES |= {"complex64": "float2", "complex128": "double2"}


def binding_arguments(face: Interface) -> list[str]:
    """The names of the arguments of the extension's function, in their order."""
    given = [face.names[name] for name in _given(face)]
    given += [face.names[face.size_name]] * _needs_size(face)
    return given + (["grid", "block"] + ["shared"] * face.has_shared if face.case.has_launch else [])


def _given(face: Interface) -> list[str]:
    """The kernel's parameters that C++ is given."""
    return [name for name in face.parameters if name in (*face.arguments, *face.allocated)]


def _needs_size(face: Interface) -> bool:
    """Whether C++, too, needs a size that is no parameter: for the grid, or for the shape of an output."""
    held = [each for shape in face.held.values() for each in shape]
    return face.asks_size and (not face.case.has_launch or face.size in held)


def binding(face: Interface, name: str) -> dict[str, str]:
    """The texts of NAME.cpp and NAME.cu, by file."""
    texts = {}
    for ending, write in (("cpp", _cpp), ("cu", _cu)):

        def used(stand_ins: dict[str, str], write: Callable[[Interface, str], str] = write) -> set[str]:
            return in_cpp(write(replace(face, variables=stand_ins), name).partition("namespace fourways_binding")[2])

        both = [*face.everything, *map(_checked, face.everything)]
        texts[f"{name}.{ending}"] = write(replace(face, variables=free(both, used)), name)
    return texts


def _wrapped(before: str, items: Sequence[str], after: str) -> str:
    """`before`, the items, `after`: on one line, or the items on lines of their own."""
    indent, list = " " * (len(before) - len(before.lstrip()) + 4), ", ".join(items)
    if len(before + list + after) <= _WIDTH:
        return before + list + after
    unbroken = ", ".join(item.replace(" ", "\N{NO-BREAK SPACE}") for item in items) + after
    lines = textwrap.fill(unbroken, _WIDTH, initial_indent=indent, subsequent_indent=indent)
    return f"{before.rstrip()}\n{lines}".replace("\N{NO-BREAK SPACE}", " ")


def _checked(name: str) -> str:
    """The key of the variable that holds an argument after its check."""
    return f"{name}_checked"


# --- what the two files agree on --------------------------------------------------------------------------------------


def _plain(face: Interface, name: str) -> str:
    """The C++ type of a number, or of the numbers in an array, if g++ knows it, as all of _C_TYPES; else nothing."""
    dtype = face.dtype(name)
    return "" if dtype is None or (dtype == "float16" and face.parameters[name].is_pointer) else _C_TYPES[dtype]


def _handed(face: Interface) -> Iterator[tuple[str, str]]:
    """What the launcher takes, in order: type and key."""
    for name, parameter in face.parameters.items():
        if parameter.is_pointer:
            const = "const " * (name not in face.case.outputs)
            yield f"{const}{_plain(face, name) or 'void'} *", name
        else:
            yield ("const void *" if parameter.kind == "struct" else f"{_plain(face, name)} "), name
    if not face.case.has_launch and _grid_of(face) not in face.parameters:
        yield "long long ", face.size_name


def _grid_of(face: Interface) -> str:
    """The parameter that says how many threads the launch has, or else the size."""
    if isinstance(face.size, Given):
        return face.size.name
    return next((name for name, extent in face.derived.items() if name == face.case.size), face.size_name)


def _declaration(face: Interface, name: str) -> str:
    taken = [f"{type}{face.variables[key]}" for type, key in _handed(face)]
    if face.case.has_launch:
        taken += ["dim3 grid", "dim3 block", *["unsigned shared"] * face.has_shared]
    return _wrapped(f"cudaError_t launch_{name}(", [*taken, "cudaStream_t on"], ")")


# --- NAME.cpp ---------------------------------------------------------------------------------------------------------


def _cpp(face: Interface, name: str) -> str:
    complex_numbers = any(not p.is_pointer and (p.dtype or "").startswith("complex") for p in face.parameters.values())
    arguments = []
    for key in _given(face):
        is_whole = not face.parameters[key].is_pointer and np.dtype(face.parameters[key].dtype or "V").kind in "iu"
        arguments.append(f'"{face.names[key]}"_a' + ".noconvert()" * is_whole)
    named = [*arguments, *(f'"{each}"_a' for each in binding_arguments(face)[len(arguments) :])]
    taken = [f"{_python_type(face, key)}{face.variables[key]}" for key in _given(face)]
    taken += [f"long long {face.variables[face.size_name]}"] * _needs_size(face)
    if face.case.has_launch:
        taken += ["py::object grid", "py::object block", *["unsigned shared"] * face.has_shared]
    return fill(
        "binding.cpp",
        name=name,
        headers="#include <pybind11/complex.h>\n" * complex_numbers,
        elements="".join(_elements(face)),
        declaration=_declaration(face, name),
        definition=_wrapped(f"void {name}(", [*taken, "py::object stream"], ")"),
        body="\n".join(" " * 4 + line for line in _body(face, name)),
        registered=_wrapped(
            "    m.def(", [f'"{name}"', f"&fourways_binding::{name}", *named, '"stream"_a = py::none()'], ");"
        ),
    )


def _python_type(face: Interface, name: str) -> str:
    """The type of pybind11 for an argument, and the space after it."""
    parameter = face.parameters[name]
    if parameter.is_pointer or parameter.kind == "struct":
        return "py::object "
    kind = np.dtype(parameter.dtype).kind
    if kind == "c":
        return f"std::complex<{'float' if parameter.dtype == 'complex64' else 'double'}> "
    return "double " if kind == "f" else f"{_plain(face, name)} "


def _stand_in(face: Interface, name: str) -> str:
    """The C++ type of an array's elements in NAME.cpp."""
    return _plain(face, name) or f"{face.names[name]}_element"


def _elements(face: Interface) -> Iterator[str]:
    """Stand-ins for types of elements that only nvcc knows."""
    for name in face.arrays:
        if _plain(face, name):
            continue
        dtype, stand_in = face.values[name].dtype, _stand_in(face, name)
        yield f"\n// Stands for the kernel's {element(face.parameters[name].type)}.\n"
        yield f"struct alignas({_natural(dtype)}) {stand_in} {{\n    unsigned char bytes[{dtype.itemsize}];\n}};\n"
        if face.dtype(name):
            yield f"template <> inline constexpr char fourways::kind<{stand_in}> = '{dtype.kind}';\n"


def _natural(dtype: np.dtype) -> int:
    """The bytes that C++ aligns such a type to, if nothing else is said."""
    fields = [_natural(each[0]) for each in (dtype.fields or {}).values()]
    return max(fields, default=dtype.base.alignment)


def _body(face: Interface, name: str) -> Iterator[str]:
    names, variables, parameters = face.names, face.variables, face.parameters
    for key in _given(face):
        parameter, given, checked = parameters[key], variables[key], variables[_checked(key)]
        said = f'__func__, "{names[key]}", {given}'
        if parameter.is_pointer:
            const = "const " * (key not in face.case.outputs)
            yield f"const fourways::GpuArray<{const}{_stand_in(face, key)}> {checked}({said});"
        elif parameter.kind == "struct":
            yield f"const auto {checked} = fourways::struct_bytes({said}, {face.values[key].dtype.itemsize});"
        elif parameter.dtype in ("float16", "float32"):
            yield f"const float {checked} = fourways::as_float({said});"
    if face.case.has_launch:
        yield 'const dim3 grid_checked = fourways::extent(__func__, "grid", grid);'
        yield 'const dim3 block_checked = fourways::extent(__func__, "block", block);'
    for key in filter(face.count, face.arrays):
        type, count = element(parameters[key].type), face.count(key)
        yield f'fourways::check_vectors({variables[_checked(key)]}, "{type}", {count}, {_alignment(face, key)});'
    for key, rank in face.ranks.items():
        yield f'fourways::has_dimensions({variables[_checked(key)]}, {rank}, "those of the case");'
    for key, extent in face.derived.items():
        text = value_text(face, extent)
        if np.dtype(parameters[key].dtype).itemsize < 8:
            text = f"fourways::fits<{_plain(face, key)}>({variables[_checked(extent.array)]}, {text})"
        yield f"const {_plain(face, key)} {variables[_checked(key)]} = {text};"
    for key, other in face.same.items():
        yield f"fourways::same_shape({variables[_checked(other)]}, {variables[_checked(key)]});"
    for key, shape in face.held.items():
        extents = ", ".join(value_text(face, each) for each in shape)
        yield f'fourways::has_shape({variables[_checked(key)]}, {{{extents}}}, "by the other arguments");'
    for key, other in _separate(face):
        yield f"fourways::no_overlap({variables[_checked(other)]}, {variables[_checked(key)]});"
    handed = [_value(face, key) for _, key in _handed(face)]
    if face.case.has_launch:
        handed += ["grid_checked", "block_checked", *["shared"] * face.has_shared]
    arrays = ", ".join(f"&{variables[_checked(key)]}" for key in face.arrays)
    yield from _wrapped(
        "fourways::launch(", ["__func__", "stream", f"{{{arrays}}}", "[&](cudaStream_t on) {"], ""
    ).splitlines()
    yield from _wrapped(f"    return launch_{name}(", [*handed, "on"], ");").splitlines()
    yield "});"


def _alignment(face: Interface, name: str) -> int:
    """The bytes that CUDA aligns a vector type to."""
    type, count = element(face.parameters[name].type), face.count(name)
    if type.endswith("_32a"):
        return 32
    item = np.dtype(face.dtype(name)).itemsize
    return item if count == 3 else min(16, item * count)


def _value(face: Interface, name: str) -> str:
    """What is handed to the launcher for a parameter, or for the size."""
    if name not in face.parameters:
        return value_text(face, face.size)
    parameter, given, checked = face.parameters[name], face.variables[name], face.variables[_checked(name)]
    if parameter.is_pointer or parameter.kind == "struct":
        return f"{checked}.{'data()' if parameter.kind == 'struct' else 'data'}"
    if name in face.derived or parameter.dtype in ("float16", "float32"):
        return checked
    if (parameter.dtype or "").startswith("complex"):
        return f"{_plain(face, name)}{{{given}.real(), {given}.imag()}}"
    return given


def value_text(face: Interface, value: Value) -> str:
    """A value in C++, as a long long."""
    if isinstance(value, Extent):
        array = face.variables[_checked(value.array)]
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


# --- NAME.cu ----------------------------------------------------------------------------------------------------------


def _cu(face: Interface, name: str) -> str:
    headers = "#include <algorithm>\n" * (not face.case.has_launch)
    return fill(
        "binding.cu",
        kernel=face.case.entry,
        kernel_file=face.case.path.name,
        headers=headers,
        declaration=_declaration(face, name),
        body="\n".join(" " * 4 + line for line in _launch(face)),
    )


def _launch(face: Interface) -> Iterator[str]:
    asserted = {}
    for key, parameter in face.parameters.items():
        if parameter.kind == "struct" or (parameter.is_pointer and not _plain(face, key)):
            asserted[f"sizeof({element(parameter.type)})"] = face.values[key].dtype.itemsize
        elif face.count(key):
            asserted[f"alignof({element(parameter.type)})"] = _alignment(face, key)
    yield from (f"static_assert({what} == {bytes});" for what, bytes in asserted.items())
    if not face.case.has_launch:
        size = face.variables[_grid_of(face)]
        yield "constexpr long long threads = 256;"
        yield "// one block at least: a grid of none is an error"
        yield f"const auto blocks = static_cast<unsigned>(std::max<long long>(({size} + threads - 1) / threads, 1));"
    elif face.has_shared:
        yield "constexpr auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;"
        yield "if (shared > 48 * 1024) // bytes; more must be asked for"
        yield f"    if (const cudaError_t error = cudaFuncSetAttribute(::{face.case.entry}, most, shared))"
        yield "        return error;"
    shape = "grid, block" + ", shared" * face.has_shared if face.case.has_launch else "blocks, threads"
    start = f"::{face.case.entry}<<<{shape}, {'0, ' * (not face.has_shared)}on>>>("
    yield from _wrapped(start, [_passed(face, name) for name in face.parameters], ");").splitlines()


def _passed(face: Interface, name: str) -> str:
    """An argument as the kernel takes it."""
    parameter, text = face.parameters[name], face.variables[name]
    if parameter.kind == "struct":
        return f"*static_cast<const {parameter.type} *>({text})"
    if parameter.is_pointer:
        only_read = parameter.kind == "output" and name not in face.case.outputs
        type = parameter.type
        if only_read or (name not in face.case.outputs and not type.startswith("const ")):
            text = f"const_cast<{_plain(face, name) or 'void'} *>({text})"
        if element(type) == _plain(face, name):
            return text
        return f"reinterpret_cast<{type}>({text})" if _plain(face, name) else f"static_cast<{type}>({text})"
    if parameter.type == _plain(face, name):
        return text
    if (parameter.dtype or "").startswith("complex"):
        return f"{parameter.type}({text}.x, {text}.y)"
    return f"static_cast<{parameter.type}>({text})"
