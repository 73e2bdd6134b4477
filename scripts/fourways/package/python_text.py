"""The package in Python: one function that allocates its outputs, and the dtypes of the kernel's structs."""

import re
from dataclasses import replace

import numpy as np

from fourways.package.carried import summary
from fourways.package.cpp_text import binding_arguments
from fourways.package.docstring import docstring
from fourways.package.dtypes import constant_name, constants, definition
from fourways.package.fill import fill, wrapped
from fourways.package.interface import Extent, Given, Interface, Value
from fourways.package.naming import free, in_function, in_python

_HINTS = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


def named(face: Interface, name: str) -> Interface:
    """The interface with a name for each parameter in Python: its own, unless the package's function uses that."""

    def used(stand_ins: dict[str, str]) -> set[str]:
        with_stand_ins = replace(face, names=stand_ins)
        return in_function(init(with_stand_ins, name), name) | in_python(stub(with_stand_ins, name))

    names = free(face.everything, used, also=[name, *constants(face)])
    if face.allocated == ("out",):  # the argument out= is that output
        names["out"] = "out"
    return replace(face, names=names)


def arguments(face: Interface) -> list[str]:
    """The names of the function's arguments, without `out` and `stream`."""
    return [face.names[name] for name in (*face.arguments, *[face.size_name] * face.asks_size)]


def _hint(face: Interface, name: str) -> str:
    parameter = face.parameters[name]
    if parameter.is_pointer:
        return "Array"
    if not parameter.dtype:
        return "np.ndarray | np.void" if constant_name(face, name) else "Any"
    return _HINTS[np.dtype(parameter.dtype).kind]


def _definition(face: Interface, name: str) -> str:
    hinted = [f"{face.names[each]}: {_hint(face, each)}" for each in face.arguments]
    hinted += [f"{face.names[face.size_name]}: int"] if face.asks_size else []
    returned = "None"
    if face.allocated:
        returned = "Array" if len(face.allocated) == 1 else f"tuple[{', '.join(['Array'] * len(face.allocated))}]"
        hinted += ["*", f"out: {returned} | None = None" if face.optional else f"out: {returned}"]
    else:
        hinted += ["*"]
    return wrapped(f"def {name}(", [*hinted, "stream: Any = None"], f") -> {returned}:")


def _python(face: Interface, value: Value) -> str:
    """A value in Python."""
    if isinstance(value, Extent):
        shape = _shape(face, value.array, ranked=value.axis is not None)
        return f"math.prod({shape})" if value.axis is None else f"{shape}[{value.axis}]"
    return face.names[value.name] if isinstance(value, Given) else str(value)


def _shape(face: Interface, name: str, ranked: bool = False) -> str:
    rank = f", {face.values[name].ndim}" if ranked else ""
    return f'_shape("{face.names[name]}", {face.names[name]}{rank})'


def _number(face: Interface, name: str) -> str:
    """A number of the caller's for launch(), which sees it before the binding checks it."""
    parameter = face.parameters.get(name)
    is_whole = parameter is None or np.dtype(parameter.dtype or "V").kind in "biu"
    return f'_number("{face.names[name]}", {face.names[name]}, {"operator.index" if is_whole else "float"})'


def _launched(face: Interface, name: str) -> str:
    """The argument of launch() for an input, or for the size."""
    if face.parameters[name].is_pointer:
        return f"SimpleNamespace(shape={_shape(face, name, ranked=True)})"
    return _python(face, face.derived[name]) if name in face.derived else _number(face, name)


def _new(face: Interface, name: str) -> str:
    """An expression that allocates an output."""
    if other := face.same.get(name):
        shape = _shape(face, other)
    else:
        extents = [_python(face, value) for value in face.shapes[name] or ()]
        shape = f"({', '.join(extents)}{',' * (len(extents) == 1)})"
    return f'_empty({face.names[face.like]}, {shape}, "{face.dtype(name)}")'


def _body(face: Interface, name: str) -> str:
    outs = [face.names[each] for each in face.allocated]
    new, launched = [], []
    if face.optional and outs:
        each_new = [_new(face, each) for each in face.allocated]
        new = [wrapped("        out = (", each_new, ")") if len(outs) > 1 else f"        out = {each_new[0]}"]
    if face.case.has_launch:
        shapes = "grid, block, shared" if face.has_shared else "grid, block"
        rest = "" if face.launch_values == 2 + face.has_shared else "[:2]"
        size = _number(face, face.size.name) if isinstance(face.size, Given) else _python(face, face.size)
        taken = [size, *(_launched(face, each) for each in face.case.launch_inputs)]
        launched = [wrapped(f"    {shapes} = launch(", taken, f"){rest}")]
    shared, inside = _once([*new, *launched]), not launched
    for expression, variable in shared.items():
        new, launched = ([line.replace(expression, variable) for line in lines] for lines in (new, launched))
    once = [f"{'    ' * (1 + inside)}{variable} = {expression}" for expression, variable in shared.items()]
    lines = once if not inside else []
    lines += ["    if out is None:", *(once if inside else []), *new] if new else []
    lines += [f"    {', '.join(outs)} = out"] if len(outs) > 1 else []
    names = {outs[0]: "out"} if len(outs) == 1 else {}
    passed = [names.get(each, each) for each in binding_arguments(face)]
    lines += [*launched, wrapped(f"    _{name}(", [*passed, "stream"], ")")]
    return "\n".join(lines + ["    return out"] * bool(outs))


def _once(lines: list[str]) -> dict[str, str]:
    """Variables for the calls of `_shape` that stand there several times."""
    calls = re.findall(r'(_shape\("\w+", \w+(?:, \d+)?\))', "\n".join(lines))
    often = [call for call in dict.fromkeys(calls) if calls.count(call) > 1]
    return {call: f"shape_{number}" if number > 1 else "shape" for number, call in enumerate(often, 1)}


def init(face: Interface, name: str) -> str:
    """The text of `__init__.py`."""
    body = _body(face, name)
    found = constants(face)
    uses = {"math": "math.prod(", "operator": "operator.index)", "sys": "_empty("}
    imports = [f"import {module}" for module, call in uses.items() if call in body]
    imports += ["from collections.abc import Callable"] if "_number(" in body else []
    imports += ["from types import SimpleNamespace"] if "SimpleNamespace(" in body else []
    imports += ["from typing import Any, TypeVar", ""]
    imports += ["import numpy as np", ""] if found else []
    imports += [f"from ._binding import {name} as _{name}"]
    imports += ["from ._launch import launch"] if face.case.has_launch else []
    helpers = ""
    if "_shape(" in body:
        helpers += fill("shape_of_rank.py" if re.search(r"_shape\([^()]*, \d+\)", body) else "shape.py", name=name)
    if "_number(" in body:
        helpers += fill("number.py", name=name)
    if "_empty(" in body:
        helpers += fill("empty.py", name=name, like=face.names[face.like])
    return (
        fill(
            "__init__.py",
            summary=summary(face.case),
            imports="\n".join(imports),
            all=wrapped("__all__ = [", [f'"{each}"' for each in sorted([*found, name])], "]"),
            constants="".join(f"{definition(each, dtype)}\n" for each, dtype in found.items()),
            definition=_definition(face, name),
            documentation=docstring(face),
            body=body,
            helpers=helpers,
        ).rstrip()
        + "\n"
    )


def stub(face: Interface, name: str) -> str:
    """The text of `_binding.pyi`."""
    hints = [*(f"{each}: Any" for each in binding_arguments(face)), "stream: Any = None"]
    return fill("_binding.pyi", definition=wrapped(f"def {name}(", hints, ") -> None: ..."))
