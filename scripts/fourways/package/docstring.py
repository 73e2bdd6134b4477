"""The docstring of a package's function: what it takes, what it checks, what it raises."""

import numpy as np

from fourways.package.carried import summary
from fourways.package.dtypes import constant_name
from fourways.package.fill import paragraph
from fourways.package.interface import Extent, Given, Interface, Value, element

_STREAM = (
    "None: the current one of PyTorch for its tensors, else of CuPy where it is imported, else the legacy default "
    "stream. Or a pointer as int, or a stream of CuPy, PyCUDA, PyTorch, Numba or cuda.core."
)
_RAISES = (
    "Arrays are C-contiguous and on the current GPU, of any library with __cuda_array_interface__ or DLPack; nothing "
    "is copied. Raises TypeError (no GPU array, wrong dtype, host memory), ValueError (shape, layout, read-only, "
    "range, another GPU), RuntimeError (what CUDA reports, as no driver). Nothing is launched on a bad argument."
)


def docstring(face: Interface) -> str:
    """The text between the quotes."""
    entries = [(face.names[each], _described(face, each)) for each in face.arguments]
    entries += [(face.names[face.size_name], _described(face, ""))] if face.asks_size else []
    new = f"; None: a new one of {face.names[face.like]}'s library" if face.optional else ""
    if len(face.allocated) == 1:
        entries.append(("out", _described(face, face.allocated[0]) + new))
    elif face.allocated:
        outs = "; ".join(f"{face.names[each]} {_described(face, each)}" for each in face.allocated)
        entries.append(("out", f"a tuple: {outs}{new.replace('a new one', 'new ones')}"))
    entries.append(("stream", _STREAM))
    width = max(len(each) for each, _ in entries) + 2
    lines = [_entry(each.ljust(width), text) for each, text in entries]
    alone = " What the kernel writes must share no memory with another array." * face.restricted
    returns = f"Returns {'`out` ' if face.allocated else ''}as soon as the kernel is queued."
    return "\n\n".join(
        [summary(face.case), paragraph(returns, "    "), "\n".join(lines), paragraph(_RAISES + alone, "    ")]
    )


def _described(face: Interface, name: str) -> str:
    """What an argument must be, for the docstring."""
    parameter = face.parameters.get(name)
    if not parameter:
        meant = "what launch() in _launch.py takes" if face.case.has_launch else "how many threads are wanted"
        return f"{meant}, a whole number"
    dtype, count, constant = face.dtype(name), face.count(name), constant_name(face, name)
    if not parameter.is_pointer:
        if not dtype:
            return f"a value of dtype {constant}, or its bytes" if constant else f"{parameter.size} bytes"
        kind = np.dtype(dtype).kind
        return {"b": "True or False", "f": f"a number, rounded to {dtype}", "c": "a complex number"}.get(
            kind, f"a whole number within the range of {dtype}"
        )
    shape = "any shape"
    told = {each.array for each in [*face.derived.values(), face.size] if isinstance(each, Extent)}
    if name in face.same:
        shape = f"the shape of {face.names[face.same[name]]}"
    elif name in face.held:
        texts = [_told(face, each) for each in face.held[name]]
        shape = f"shape ({', '.join(texts)}{',' * (len(texts) == 1)})"
    elif name in face.ranks:
        shape = f"{face.ranks[name]} dimension{'s' * (face.ranks[name] > 1)}"
    elif name not in told | set(face.same.values()):
        shape = "its shape is not checked"
    written = ", written in place" if name in face.case.in_place else ""
    last = f", {count} along the last axis: a {element(parameter.type)}" * bool(count)
    return f"{dtype or constant or f'{parameter.element_size} bytes each'}, {shape}{last}{written}"


def _told(face: Interface, value: Value) -> str:
    if isinstance(value, Extent):
        array = face.names[value.array]
        return f"the elements of {array}" if value.axis is None else f"{array}.shape[{value.axis}]"
    return face.names[value.name] if isinstance(value, Given) else str(value)


def _entry(name: str, text: str) -> str:
    lines = paragraph(text, "    " + " " * len(name)).splitlines()
    return "\n".join([f"    {name}{lines[0].strip()}", *lines[1:]])
