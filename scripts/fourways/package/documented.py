"""The sentences of a docstring about the function's arguments."""

from collections.abc import Mapping, Sequence

from fourways.package.argument import Argument
from fourways.package.interface import Extent, tuple_text, writer

_NUMBERS = {"b": "True or False", "f": "a number, rounded to {}", "c": "a complex number"}


def documented(
    of: Mapping[str, Argument], arguments: Sequence[Argument], outs: Sequence[Argument]
) -> list[tuple[str, str]]:
    """The function's arguments, without `stream`, each with a description."""
    described = [(each.name, _described(each, of)) for each in arguments]
    if not outs:
        return described
    interface = outs[0].interface
    told = "; ".join(f"{each.name} {_described(each, of)}" for each in outs)
    told = f"a tuple: {told}" if len(outs) > 1 else _described(outs[0], of)
    if interface.optional:
        told += f"; None: {'new ones' if len(outs) > 1 else 'a new one'} of {of[interface.like].name}'s library"
    return [*described, ("out", told)]


def _described(argument: Argument, of: Mapping[str, Argument]) -> str:
    interface, parameter, dtype = argument.interface, argument.parameter, argument.dtype
    if not parameter:
        meant = "what launch() in _launch.py takes" if interface.case.has_launch else "how many threads are wanted"
        return f"{meant}, a whole number"
    if argument.is_array:
        held = dtype or argument.constant or f"{parameter.element_size} bytes each"
        last = f", {argument.count} along the last axis: a {argument.struct}" if argument.count else ""
        in_place = ", written in place" if argument.key in interface.case.in_place else ""
        return f"{held}, {_shape(argument, of)}{last}{in_place}"
    if dtype:
        return _NUMBERS.get(argument.kind, "a whole number within the range of {}").format(dtype)
    return f"a value of dtype {argument.constant}, or its bytes" if argument.constant else f"{parameter.size} bytes"


def _shape(argument: Argument, of: Mapping[str, Argument]) -> str:
    """The shape that an array must have."""
    interface, key = argument.interface, argument.key
    if key in interface.same:
        return f"the shape of {of[interface.same[key]].name}"
    if key in interface.held:
        extent = writer(of, "the elements of {0.name}", "{0.name}.shape[{1}]", "{0.name}")
        return f"shape {tuple_text(map(extent, interface.held[key]))}"
    if key in interface.ranks:
        return f"{interface.ranks[key]} dimension{'s' if interface.ranks[key] > 1 else ''}"
    telling = {each.array for each in [*interface.derived.values(), interface.size] if isinstance(each, Extent)}
    return "any shape" if key in telling | set(interface.same.values()) else "its shape is not checked"
