"""A first case for a kernel, written from its signature."""

import keyword
import textwrap

from fourways.kernels import Parameter, Signature

_WIDTH = 110


def skeleton(signature: Signature) -> str:
    """The text of a case: random inputs of `size` elements, an integer as the size, 1 for every other number.

    It runs as it is where every array has `size` elements and the kernel takes an element a thread; a struct is all
    zeros. What a person must say is a comment: the right answer, and another launch.
    """
    given = [each for each in signature.parameters if each.kind != "output"]
    written = [each for each in signature.parameters if each.kind == "output"]
    integers = [each for each in given if each.kind == "scalar" and "int" in (each.dtype or "")]
    size = next((each for each in integers if each.name in ("n", "N", "size")), integers[0] if integers else None)
    inputs = {_name(each): each for each in given if each is not size}
    variables = {name: each for name, each in inputs.items() if each.kind == "input" or not each.dtype}
    values = [name if name in variables else _number(each) for name, each in inputs.items()]
    made = [f"    {name} = {_variable(each)}" for name, each in variables.items()]
    if any("rng." in line for line in made):
        made.insert(0, "    rng = np.random.default_rng(1)")
    wanted = ", ".join(f"{each.name} ({each.dtype or each.type})" for each in written)
    lines = textwrap.wrap(f'"""A case for {signature}.', _WIDTH)
    lines[-1] += '"""' if len(lines) == 1 else '\n"""'
    lines += ["", "import numpy as np"] if made else []
    lines += ["", f'size = "{size.name}"  # the parameter that takes the size'] if size and len(integers) > 1 else []
    lines += ["", "", "def make_inputs(size):", *made, _wrapped("    return (", values), "", ""]
    lines += [_wrapped("# def reference(", list(inputs), ":", "#     ")]
    said = f"return ...  # {wanted}, by NumPy; until then the host way judges"
    lines += textwrap.wrap(said, _WIDTH, initial_indent="#     ", subsequent_indent="#     # ")
    lines += ["", "", "# def launch(size):"]
    lines += ["#     return max(1, -(-size // 256)), 256  # blocks, and threads of a block: the default"]
    return "\n".join(lines) + "\n"


def _name(parameter: Parameter) -> str:
    """The parameter's name, unless Python or the skeleton uses it for something else."""
    name = parameter.name.replace(" ", "_")
    return name + "_" * (keyword.iskeyword(name) or name in ("np", "rng", "size"))


def _variable(parameter: Parameter) -> str:
    """An expression for an array of `size` elements, or for a struct."""
    dtype = parameter.dtype
    if parameter.kind != "input":
        return f'np.zeros((), "V{parameter.size}")  # {parameter.type}, better of a np.dtype([...], align=True)'
    if not dtype:
        return f'np.zeros(size, "V1")  # {parameter.type}, in the dtype that it has'
    if dtype.startswith("complex"):
        return f"(rng.standard_normal(size) + 1j * rng.standard_normal(size)).astype(np.{dtype})"
    if dtype.startswith("float"):
        return f"rng.standard_normal(size).astype(np.{dtype})"
    return f"rng.integers(0, {2 if dtype == 'bool' else 100}, size).astype(np.{dtype})"


def _number(parameter: Parameter) -> str:
    kinds = {"bool": "True", "float": "1.0", "complex": "1j"}
    return next((text for kind, text in kinds.items() if (parameter.dtype or "").startswith(kind)), "1")


def _wrapped(head: str, parts: list[str], tail: str = "", indent: str = "        ") -> str:
    """`head` with its bracket, the parts and the other bracket, in one line or in several."""
    line = f"{head}{', '.join(parts)}{',' * (len(parts) == 1 and not tail)}){tail}"
    if len(line) <= _WIDTH:
        return line
    inside = textwrap.fill(", ".join(parts) + ",", _WIDTH, initial_indent=indent, subsequent_indent=indent)
    return f"{head}\n{inside}\n{'# ' * head.startswith('#') or '    '}){tail}"
