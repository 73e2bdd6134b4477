"""The one context of all templates, made from a case's interface."""

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fourways.kernels import safe_name
from fourways.package.argument import Argument
from fourways.package.carried import compiler_options, kernel_files, summary
from fourways.package.documented import documented
from fourways.package.environment import IN_CPP, IN_FUNCTION, IN_TESTS
from fourways.package.interface import Extent, Given, Interface, Value, tuple_text, writer

_EXTRAS = {"cccl": r"#\s*include\s*<(cuda|cub|thrust|nv)/", "curand": r"#\s*include\s*<curand"}
_SIZES = (0, 1, 31, 32, 33, 255, 256, 257, 1009, 65_537)


class Struct(NamedTuple):
    """The dtype of a struct: the constant that holds it, and the text that makes it, a line for each field."""

    constant: str
    opening: str
    lines: Sequence[str]
    closing: str
    is_aligned: bool


def context(interface: Interface, name: str) -> dict[str, Any]:
    """The context of a package `name`."""
    case, names_of_dtypes = interface.case, constants(interface)
    of = _arguments(interface, name, names_of_dtypes)
    size, threads = of[interface.size_name], of[_threads(interface)]
    parameters, outs = [of[each] for each in interface.parameters], [of[each] for each in interface.allocated]
    arguments = [*(of[each] for each in interface.arguments), *([size] if interface.asks_size else [])]
    dtypes = {constant: interface.values[each].dtype for each, constant in names_of_dtypes.items()}
    inputs = [of[each] for each in case.names]
    bound = [each for each in parameters if each in arguments or each in outs]
    given, tested_outs = [each.tested for each in arguments], [each.tested for each in outs]
    if outs and not interface.optional:
        given.append(f"out={tested_outs[0]}" if len(outs) == 1 else f"out={tuple_text(tested_outs)}")
    cpp = writer(of, "{0.checked}.size", "{0.checked}.shape[{1}]", "{0.whole}")
    options, standard = compiler_options(case)
    files = kernel_files(case)
    return {
        # for all templates
        "name": name,
        "case": case,
        "interface": interface,
        "summary": summary(case),
        "of": of,
        "size": size,
        "parameters": parameters,
        "arrays": [of[each] for each in interface.arrays],
        "inputs": inputs,
        "outputs": [of[each] for each in case.outputs],
        "arguments": arguments,
        "outs": outs,
        "launch_arguments": ["grid", "block", *(["shared"] if interface.has_shared else [])] if case.has_launch else [],
        # for Python
        "structs": [_struct(constant, dtype) for constant, dtype in dtypes.items()],
        "exported": sorted([*dtypes, name]),
        "returned": f"tuple[{', '.join(['Array'] * len(outs))}]" if len(outs) > 1 else "Array" if outs else "None",
        "documented": documented(of, arguments, outs),
        **_function(interface, of),
        # for C++
        "cpp": cpp,
        "bound": [*bound, size] if _needs_size(interface) else bound,
        "thread_count": threads,
        "handed": parameters if case.has_launch or threads.parameter else [*parameters, threads],
        "held": [(of[each], [cpp(extent) for extent in shape]) for each, shape in interface.held.items()],
        "separate": [(of[output], of[other]) for output, other in _separate(interface)],
        # for the tests
        "used": [each.tested if each in arguments else "_" for each in inputs],
        "given": given,
        "sizes": tuple(case.sizes) or _SIZES,
        "small": int(interface.values[interface.size_name]),
        # for the build
        "kernel_files": files,
        "options": [re.sub(r'(["\\;])', r"\\\1", option) for option in options],
        "standard": standard,
        "description": json.dumps(summary(case), ensure_ascii=False),
        "extras": [extra for extra, pattern in _EXTRAS.items() if re.search(pattern, "".join(files.values()))],
    }


def distinct(names: Collection[str], taken: Collection[str]) -> dict[str, str]:
    """Map each name to itself, or to the name with `_` after it where it is taken; no two results are alike."""
    chosen: dict[str, str] = {}
    for name in names:
        others = {each for each in names if each != name}
        chosen[name] = safe_name(name, {*taken, *others, *chosen.values()})
    return chosen


def _arguments(interface: Interface, name: str, constants: Mapping[str, str]) -> dict[str, Argument]:
    """The kernel's parameters, and the size, by their names in the kernel."""
    keys = list(dict.fromkeys([*interface.parameters, interface.size_name]))
    types = " ".join([interface.case.entry, *(each.type for each in interface.parameters.values())])
    python = distinct(keys, {*IN_FUNCTION, f"_{name}", *constants.values()})
    tested = distinct(keys, {*IN_TESTS, name})
    variables = distinct(keys, {*IN_CPP, f"launch_{name}", *re.findall(r"\w+", types)})
    if interface.allocated == ("out",):  # the argument out= is that output
        python["out"] = "out"
    if interface.size_name == "size":  # the tests are called with it
        tested["size"] = "size"
    return {
        key: Argument(
            interface=interface,
            key=key,
            name=python[key],
            tested=tested[key],
            variable=variables[key],
            shape=safe_name(f"{python[key]}_shape", [*python.values()]),
            checked=safe_name(f"{variables[key]}_checked", [*variables.values()]),
            element_name=safe_name(f"{variables[key]}_element", [*variables.values()]),
            constant=constants.get(key, ""),
        )
        for key in keys
    }


# --- the dtypes of structs --------------------------------------------------------------------------------------------


def constants(interface: Interface) -> dict[str, str]:
    """The constants for the dtypes of parameters that are structs with fields, or point to them.

    `Clip` is CLIP, `geometry::Clip<float>` GEOMETRY_CLIP_FLOAT.
    """
    structs = {
        name: each.element
        for name, each in interface.parameters.items()
        if interface.dtype(name) is None and interface.values[name].dtype.fields
    }
    by_type: dict[str, str] = {}
    for type in dict.fromkeys(structs.values()):
        by_type[type] = safe_name(type.upper(), [*by_type.values()])
    return {name: by_type[type] for name, type in structs.items()}


def _struct(constant: str, dtype: np.dtype) -> Struct:
    """The dtype as NumPy writes it, gaps included."""
    call = ast.parse(repr(dtype), mode="eval").body
    assert isinstance(call, ast.Call)
    fields = ast.literal_eval(call.args[0])
    is_list = isinstance(fields, list)
    lines = map(repr, fields) if is_list else (f"{key!r}: {value!r}" for key, value in fields.items())
    opening, closing = "[]" if is_list else "{}"
    return Struct(constant, opening, [line.replace("'", '"') for line in lines], closing, bool(call.keywords))


# --- what C++ takes and checks ----------------------------------------------------------------------------------------


def _needs_size(interface: Interface) -> bool:
    """Whether C++, too, needs a size that is no parameter: for the grid, or for the shape of an output."""
    held = [each for shape in interface.held.values() for each in shape]
    return interface.asks_size and (not interface.case.has_launch or interface.size in held)


def _threads(interface: Interface) -> str:
    """The parameter that says how many threads a launch without a grid has, or else the size."""
    if isinstance(interface.size, Given):
        return interface.size.name
    return next((name for name in interface.derived if name == interface.case.size), interface.size_name)


def _separate(interface: Interface) -> Iterator[tuple[str, str]]:
    """Yield each output with each array that it must not share memory with, by the kernel's __restrict__."""
    for number, output in enumerate(interface.case.outputs if interface.restricted else ()):
        for other in interface.arrays:
            if other != output and other not in interface.case.outputs[:number]:
                yield output, other


# --- the function of __init__.py --------------------------------------------------------------------------------------


def _function(interface: Interface, of: Mapping[str, Argument]) -> dict[str, Any]:
    """Return the context of the function in `__init__.py`: the shapes, new outputs and launch that it makes."""
    written = writer(of, "math.prod({0.shape})", "{0.shape}[{1}]", "{0.name}")
    launched = writer(of, "math.prod({0.shape})", "{0.shape}[{1}]", "{0.converted}")
    case = interface.case
    seen = [each for each in case.launch_inputs if of[each].is_array]
    numbers = {each: interface.derived.get(each, Given(each)) for each in case.launch_inputs if each not in seen}
    launch: list[Value] = [interface.size, *numbers.values()] if case.has_launch else []
    outs = interface.allocated if interface.optional else ()
    new = {each: interface.shapes[each] or () for each in outs if each not in interface.same}
    created = [extent for shape in new.values() for extent in shape]
    launch_arrays = dict.fromkeys([*_arrays(launch), *seen])
    new_arrays = dict.fromkeys([*_arrays(created), *(interface.same[each] for each in outs if each in interface.same)])
    texts = {each: launched(value) for each, value in numbers.items()}
    texts |= {each: f"SimpleNamespace(shape={of[each].shape})" for each in seen}
    return {
        "launched": [launched(interface.size), *(texts[each] for each in case.launch_inputs)],
        "launch_shapes": [of[each] for each in launch_arrays],
        "sees_shapes": bool(seen),
        "converted": [of[each.name] for each in launch if isinstance(each, Given)],
        "new": [
            (of[each], tuple_text(map(written, new[each])) if each in new else of[interface.same[each]].shape)
            for each in outs
        ],
        "new_shapes": [of[each] for each in new_arrays if each not in launch_arrays],
        "multiplies": any(isinstance(each, Extent) and each.axis is None for each in [*launch, *created]),
    }


def _arrays(values: Sequence[Value]) -> list[str]:
    """The arrays whose extents are among the values."""
    return [each.array for each in values if isinstance(each, Extent)]
