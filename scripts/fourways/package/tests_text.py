"""The tests of a package: its function against the case's reference, and what can be tested without a GPU."""

from collections.abc import Iterator
from dataclasses import replace

from fourways.package.carried import defined
from fourways.package.fill import fill, wrapped
from fourways.package.interface import Interface
from fourways.package.naming import free, in_python
from fourways.package.python_text import arguments

_SIZES = (0, 1, 31, 32, 33, 255, 256, 257, 1009, 65_537)


def tests(face: Interface, name: str) -> str:
    """The text of `tests/test_NAME.py`."""
    written = replace(face, names={})
    taken = [*arguments(face), *["out"] * bool(face.allocated), "stream"]

    def used(stand_ins: dict[str, str]) -> set[str]:
        return in_python(_text(replace(written, names=stand_ins), name, taken))

    names = free(face.everything, used)
    if face.size_name == "size":  # what the tests are called with
        names["size"] = "size"
    return _text(replace(written, names=names), name, taken)


def _text(face: Interface, name: str, signature: list[str]) -> str:
    case, given, outs = face.case, arguments(face), [face.names[each] for each in face.allocated]
    size = int(face.values[face.size_name])
    functions = defined(case)
    written = functions["make_inputs"](size)
    right = functions["reference"](*(face.values[each] for each in case.names))
    many_inputs, many_outputs = isinstance(written, tuple | list), isinstance(right, tuple | list)
    numbers = _numbers(face, tuple(written) if many_inputs else (written,))
    out = [f"out={_tuple(outs)}"] * (bool(outs) and not face.optional)
    size_name = face.names[face.size_name]
    named = [f"    {size_name} = size"] if size_name in given and size_name != "size" else []
    inputs = [face.names[each] for each in case.names]
    used = [face.names[each] if each in face.arguments else "_" for each in case.names]
    expected = "(expected,)" if many_outputs and len(case.outputs) == 1 else "expected"
    result = f"{', '.join(outs)} = " if outs and not out else ""
    return fill(
        "test.py",
        name=name,
        sizes=repr(tuple(case.sizes) or _SIZES),
        call="\n".join(
            [
                *_made(inputs, many_inputs),
                *named,
                *numbers,
                wrapped(f"    {expected} = case.reference(", inputs, ")"),
                *(f"    {face.names[each]} = cupy.asarray({face.names[each]})" for each in face.given_arrays),
                *(f"    {_allocated(face, each)}" for each in face.allocated if out),
                wrapped(f"    {result}{name}.{name}(", [*given, *out], ")"),
                *(f"    compare({face.names[each]}.get(), {_right(face, each)})" for each in case.outputs),
            ]
        ),
        names=wrapped("    assert names == [", [f'"{each}"' for each in signature], "]"),
        compare=_compare(face),
        refused="\n".join(
            [
                f"    size = {size}",
                *_made(used, many_inputs),
                *named,
                *(f"    {each} = np.zeros(size)" for each in outs if out),
                f'    with pytest.raises(TypeError, match=r"^{name}: \\w+ is a numpy\\.ndarray"):',
                wrapped(f"        {name}.{name}(", [*given, *out], ")"),
            ]
        ),
    )


def _made(names: list[str], many: bool) -> list[str]:
    """The line that calls make_inputs, which gives a tuple of `many` or one value."""
    if not names:
        return []
    left = f"({names[0]},)" if many and len(names) == 1 else ", ".join(names)
    return [f"    {left} = case.make_inputs(size)"]


def _numbers(face: Interface, written: tuple) -> Iterator[str]:
    """Lines that make the kernel's dtype of what the case gives as a plain number: the reference is made for that."""
    for name, value in zip(face.case.names, written, strict=True):
        dtype = face.parameters[name].dtype
        if dtype and not face.parameters[name].is_pointer and getattr(value, "dtype", None) != dtype:
            yield f"    {face.names[name]} = np.{dtype.replace('bool', 'bool_')}({face.names[name]})"


def _tuple(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _right(face: Interface, output: str) -> str:
    outputs = face.case.outputs
    return "expected" if len(outputs) == 1 else f"expected[{outputs.index(output)}]"


def _allocated(face: Interface, output: str) -> str:
    right, dtype = _right(face, output), face.dtype(output)
    return f"{face.names[output]} = cupy.empty({right}.shape, {repr(dtype) if dtype else f'{right}.dtype'})"


def _compare(face: Interface) -> str:
    """The function that compares an output with the right one."""
    case = face.case
    parts = ["got", "right", f"rtol={case.rtol!r}", *[f"atol={case.atol!r}"] * bool(case.atol)]
    numbers = [wrapped("np.testing.assert_allclose(", parts, ")")]
    structs = [face.values[each].dtype for each in case.outputs if face.dtype(each) is None]
    lines = ["def compare(got, right):"]
    if structs:
        lines += ["    for field in right.dtype.names or ():  # not what stands in a struct's gaps"]
        lines += ["        compare(got[field], right[field])"]
        lines += ['    if right.dtype.kind in "biufc":', *(f"        {each}" for each in numbers)]
    else:
        lines += [f"    {each}" for each in numbers]
    return "\n".join(lines)
