"""A first case for a kernel, written from its signature."""

from fourways.building import Parameter, Signature


def skeleton(signature: Signature) -> str:
    """The text of a case: random inputs of `size` elements, an integer as the size, 1 for every other number.

    It runs as it is where every array has `size` elements and the kernel takes an element a thread; a struct is all
    zeros. What a person must say is a comment: the right answer, and another launch.
    """
    given = [each for each in signature.parameters if each.kind != "output"]
    written = [each for each in signature.parameters if each.kind == "output"]
    integers = [each for each in given if each.kind == "scalar" and "int" in (each.dtype or "")]
    size = next((each for each in integers if each.name in ("n", "N", "size")), integers[0] if integers else None)
    inputs = {each.name.replace(" ", "_"): each for each in given if each is not size}
    lines = [f'"""A case for {signature}."""', "", "import numpy as np"]
    if len(integers) > 1 and size:
        lines += ["", f'size = "{size.name}"  # the parameter that takes the size']
    lines += ["", "", "def make_inputs(size):"]
    arrays = {name: each for name, each in inputs.items() if each.kind == "input"}
    lines += ["    rng = np.random.default_rng(1)"] if arrays else []
    lines += [f"    {name} = {_array(each)}" for name, each in arrays.items()]
    values = [name if name in arrays else _value(each) for name, each in inputs.items()]
    lines += [f"    return {', '.join(values) or '()'}"]
    wanted = ", ".join(f"{each.name} ({each.dtype or each.type})" for each in written)
    lines += ["", "", f"# def reference({', '.join(inputs)}):"]
    lines += [f"#     return ...  # {wanted}, by NumPy; until then the host way judges"]
    lines += [
        "",
        "",
        "# def launch(size):",
        "#     return -(-size // 256), 256  # blocks, and threads of a block: the default",
    ]
    return "\n".join(lines) + "\n"


def _array(parameter: Parameter) -> str:
    """An expression for an array of `size` elements."""
    dtype = parameter.dtype
    if not dtype:
        return f'np.zeros(size, "V1")  # {parameter.type}: in the dtype that it has'
    if dtype.startswith("complex"):
        return f"(rng.standard_normal(size) + 1j * rng.standard_normal(size)).astype(np.{dtype})"
    if dtype.startswith("float"):
        return f"rng.standard_normal(size).astype(np.{dtype})"
    return f"rng.integers(0, {2 if dtype == 'bool' else 100}, size).astype(np.{dtype})"


def _value(parameter: Parameter) -> str:
    """An expression for a scalar, or a struct."""
    return f"np.{parameter.dtype}(1)" if parameter.dtype else f'np.zeros((), "V{parameter.size}")'
