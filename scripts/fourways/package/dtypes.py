"""The dtypes of a kernel's structs, as constants of its package."""

import ast
import re

import numpy as np

from fourways.package.fill import WIDTH
from fourways.package.interface import Interface, element


def constants(face: Interface) -> dict[str, np.dtype]:
    """The dtypes of the kernel's structs, by the names of the constants that hold them."""
    structs = {name: constant_name(face, name) for name in face.parameters if face.dtype(name) is None}
    return {constant: face.values[name].dtype for name, constant in structs.items() if constant}


def constant_name(face: Interface, name: str) -> str:
    """The constant for the struct that a parameter is or points to; empty where the case gives it no fields."""
    return _named(face).get(element(face.parameters[name].type), "")


def _named(face: Interface) -> dict[str, str]:
    """Constants by C types, no two alike: `Clip` is CLIP, `geometry::Clip<float>` GEOMETRY_CLIP_FLOAT."""
    named: dict[str, str] = {}
    for name, each in face.parameters.items():
        type = element(each.type)
        if face.dtype(name) is None and face.values[name].dtype.fields and type not in named:
            constant = re.sub(r"\W+", "_", type).strip("_").upper()
            while constant in named.values():
                constant += "_"
            named[type] = constant
    return named


def definition(constant: str, dtype: np.dtype) -> str:
    """The line that defines a constant, or the lines where one is too long."""
    text = repr(dtype).replace("'", '"')  # what evaluates to it, gaps included
    flat = f"{constant} = np.{text}"
    if len(flat) <= WIDTH or not text.startswith("dtype(["):
        return flat
    before, after = text.index("["), text.rindex("]") + 1
    fields = [repr(field).replace("'", '"') for field in ast.literal_eval(text[before:after])]
    aligned = text[after:-1]
    on_one = f"    [{', '.join(fields)}]{aligned}"
    if len(on_one) <= WIDTH:
        return f"{constant} = np.dtype(\n{on_one}\n)"
    listed = "\n".join(["    [", *(f"        {field}," for field in fields), "    ]"])
    return f"{constant} = np.dtype(\n{listed}{aligned.replace(' ', chr(10) + '    ')}{',' * bool(aligned)}\n)"
