"""A first case for a kernel, written from its signature."""

import textwrap
from collections.abc import Collection

from fourways.case.structs import fields
from fourways.kernels import Parameter, Signature, safe_name

_WIDTH = 110


def skeleton(signature: Signature, source: str = "") -> str:
    """The text of a case: random inputs of `size` elements, an integer as the size, 1 for every other number.

    It runs as it is where every array has `size` elements and the kernel takes an element a thread. Integers of arrays
    lie below `size`, as indices do. A struct is all zeros, with the fields that `source`, the kernel's text, tells.
    Comments stand for the parts that a person must write: the reference, and a launch other than the default.
    """
    given = [each for each in signature.parameters if each.kind != "output"]
    written = [each for each in signature.parameters if each.kind == "output"]
    integers = [each for each in given if each.is_integer]
    size = next((each for each in integers if each.name in ("n", "N", "size")), integers[0] if integers else None)
    inputs = {_name(each): each for each in given if each is not size}
    variables = {name: each for name, each in inputs.items() if each.kind == "input" or not each.dtype}
    values = [name if name in variables else _number(each) for name, each in inputs.items()]
    structs = {_dtype_name(each, inputs): told for each in given if (told := fields(each, source))}
    made = [f"    {name} = {_variable(each, _dtype_name(each, inputs), structs)}" for name, each in variables.items()]
    if any("rng." in line for line in made):
        made.insert(0, "    rng = np.random.default_rng(1)")
    wanted = ", ".join(f"{each.name} ({_said(each)})" for each in written)
    lines = textwrap.wrap(f'"""A case for {signature}.', _WIDTH)
    lines[-1] += '"""' if len(lines) == 1 else '\n"""'
    lines += ["", "import numpy as np"] if made else []
    lines += ["", f'size = "{size.name}"  # the parameter that takes the size'] if size and len(integers) > 1 else []
    lines += [""] if structs else []
    for name, told in structs.items():
        listed = [str(field).replace("'", '"') for field in told]
        flat = f"{name} = np.dtype([{', '.join(listed)}], align=True)"
        several = [
            f"{name} = np.dtype(",
            "    [",
            *(f"        {each}," for each in listed),
            "    ],",
            "    align=True,",
            ")",
        ]
        lines += [flat] if len(flat) <= _WIDTH else several
    lines += ["", "", "def make_inputs(size):", *made, _wrapped("    return (", values), "", ""]
    lines += [_wrapped("# def reference(", list(inputs), ":", "#     ")]
    said = f"return ...  # {wanted}, by NumPy; until then the host way judges"
    lines += textwrap.wrap(said, _WIDTH, initial_indent="#     ", subsequent_indent="#     # ")
    lines += ["", "", "# def launch(size):"]
    lines += ["#     return max(1, -(-size // 256)), 256  # blocks, and threads of a block: the default"]
    return "\n".join(lines) + "\n"


def _dtype_name(parameter: Parameter, inputs: Collection[str]) -> str:
    """The skeleton's name for the dtype of a struct: its type, unless an input or the skeleton has that name."""
    return safe_name(parameter.element, ("np", "size", "make_inputs", *inputs))


def _said(parameter: Parameter) -> str:
    """The contents of an output, in words."""
    if parameter.dtype or not parameter.vector:
        return parameter.dtype or parameter.type
    return f"(size, {parameter.vector[1]}) of {parameter.vector[0]}"


def _name(parameter: Parameter) -> str:
    """The parameter's name, unless Python or the skeleton uses it for something else."""
    return safe_name(parameter.name, ("np", "rng", "size"))


def _variable(parameter: Parameter, dtype_name: str, structs: Collection[str]) -> str:
    """An expression for an array of `size` elements, or for one struct."""
    dtype, shape = parameter.dtype, "size"
    if parameter.vector and not dtype:
        dtype, count = parameter.vector
        if parameter.kind != "input":
            return f'np.ones((), "{", ".join([dtype] * count)}")  # {parameter.type}'
        shape = f"(size, {count})"
    if not dtype:
        shape = shape if parameter.kind == "input" else "()"
        if dtype_name in structs:
            return f"np.zeros({shape}, {dtype_name})"
        size = parameter.element_size if parameter.kind == "input" else parameter.size
        return f'np.zeros({shape}, "V{size or 1}")  # bytes of {parameter.type}: better a np.dtype([...], align=True)'
    if dtype.startswith("complex"):
        return f"(rng.standard_normal({shape}) + 1j * rng.standard_normal({shape})).astype(np.{dtype})"
    if dtype.startswith("float"):
        return f"rng.standard_normal({shape}).astype(np.{dtype})"
    narrow = {"bool": "2", "int8": "100", "uint8": "100", "int16": "min(max(size, 1), 2**15)"}
    below = narrow.get(dtype.replace("uint16", "int16"), "max(size, 1)")  # an index lies below size
    return f"rng.integers(0, {below}, {shape}).astype(np.{dtype})"


def _number(parameter: Parameter) -> str:
    kinds = {"bool": "True", "float": "1.0", "complex": "1j"}
    return next((text for kind, text in kinds.items() if (parameter.dtype or "").startswith(kind)), "1")


def _wrapped(head: str, parts: list[str], tail: str = "", indent: str = "        ") -> str:
    """`head` with its bracket, the parts and the other bracket, in one line or in several."""
    line = f"{head}{', '.join(parts)}{',' if len(parts) == 1 and not tail else ''}){tail}"
    if len(line) <= _WIDTH:
        return line
    inside = textwrap.fill(", ".join(parts) + ",", _WIDTH, initial_indent=indent, subsequent_indent=indent)
    return f"{head}\n{inside}\n{'# ' if head.startswith('#') else '    '}){tail}"
