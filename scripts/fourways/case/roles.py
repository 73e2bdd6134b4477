"""The role of each parameter of a kernel in its case: the size, an input, an output, or both of them."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from fourways.case.file import CaseFile
from fourways.case.values import taken
from fourways.kernels import Signature

_SIZE_NAMES = ("n", "N", "size", "count", "length", "len", "num")


class Roles(NamedTuple):
    """Names of parameters in the kernel's order; `in_place` are outputs that are inputs, too."""

    size: str | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    in_place: tuple[str, ...]


def roles(signature: Signature, given: CaseFile) -> Roles:
    """Return the roles that follow from the kernel's signature and the case `given`, called at its size `probe`.

    Raises CaseError where the case and the signature do not fit each other.
    """
    parameters = {each.name: each for each in signature.parameters}
    if addresses := [each for each in signature.parameters if re.search(r"&|\*.*\*|\(\*\)\(", each.type)]:
        name, type = addresses[0].name, addresses[0].type
        given.refuse(f"{name} is {type}; a case gives arrays and numbers, none of which holds an address")
    written = tuple(each.name for each in signature.parameters if each.kind == "output")
    outputs = given.parameters("outputs", written, signature) or written
    in_place = given.parameters("in_place", outputs, signature)
    wanted = [name for name in parameters if name not in outputs or name in in_place]
    integers = [name for name in wanted if parameters[name].is_integer]
    named, *more = given.parameters("size", integers, signature) or (None,)
    if more:
        given.refuse(f"size names {named} and {more[0]}; it is one parameter")
    if named:
        taken(signature, given, parameters[named], given.probe)  # before arrays of that size are made
    values = given.called("make_inputs", given.probe)
    if not outputs:
        given.refuse(f"{signature} writes nothing: each of its pointers is to const")
    if not named and len(values) == len(wanted) - 1:
        likely = [name for name in integers if name in _SIZE_NAMES] if len(integers) > 1 else integers
        if len(likely) != 1:
            example = (integers or ["n"])[-1]
            given.refuse(f'which parameter of {signature} takes the size? Name it: size = "{example}"')
        named = likely[0]
    inputs = tuple(name for name in wanted if name != named)
    if len(values) != len(inputs):
        rest = f"; {named} is filled in with the size" if named else ""
        given.refuse(f"make_inputs gives {count(values, 'value')}; {wants(signature, inputs)}{rest}")
    return Roles(named, inputs, outputs, in_place)


def wants(signature: Signature, names: Sequence[str]) -> str:
    """The end of a message on too many or too few values."""
    return f"{signature} wants {len(names)}: {', '.join(names)}" if names else f"{signature} wants none"


def count(values: Sequence[Any], what: str) -> str:
    """`3 values`, `1 value`."""
    return f"{len(values)} {what}{'' if len(values) == 1 else 's'}"
