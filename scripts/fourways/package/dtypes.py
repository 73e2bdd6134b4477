"""The dtypes of a kernel's structs, as constants of its package."""

import ast
import re

import numpy as np

from fourways.package.fill import WIDTH
from fourways.package.interface import Interface, element


def constants(face: Interface) -> dict[str, np.dtype]:
    """The dtypes of the kernel's structs, by the names of the constants that hold them."""
    structs = {
        element(each.type): face.values[name].dtype
        for name, each in face.parameters.items()
        if each.dtype is None and face.values[name].dtype.fields
    }
    return {constant_name(type): dtype for type, dtype in structs.items()}


def constant_name(type: str) -> str:
    """What the constant for a struct is called: `Clip` is CLIP, `const geometry::Clip<float> *` GEOMETRY_CLIP_FLOAT."""
    return re.sub(r"\W+", "_", element(type)).strip("_").upper()


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
