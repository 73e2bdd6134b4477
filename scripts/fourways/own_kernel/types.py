"""Compares the values of a case with the types of a kernel's parameters and variables, as a compiler has them.

A dtype with fields becomes a question to the compiler: where does each field lie in the kernel's struct, and what is
its type? So a struct is compared field by field, nested ones too, before anything runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fourways import building
from fourways.kernels import InputError, Parameter

_HEAD = """
namespace fourways_signature {
struct missing_ {};
template <class T_> struct plain_ { typedef T_ type_; };
template <class T_> struct plain_<const T_> : plain_<T_> {};
template <class T_> struct plain_<volatile T_> : plain_<T_> {};
template <class T_> struct plain_<const volatile T_> : plain_<T_> {};
template <class T_, decltype(sizeof(0)) n_> struct plain_<T_[n_]> : plain_<T_> {};
template <class T_, decltype(sizeof(0)) n_> struct plain_<const T_[n_]> : plain_<T_> {};
template <class T_> struct behind_ : plain_<T_> {};
template <class T_> struct behind_<T_ *> : plain_<T_> {};
template <int at_, class F_> struct nth_;
template <class H_, class... T_> struct nth_<0, void(H_, T_...)> : behind_<H_> {};
template <int at_, class H_, class... T_> struct nth_<at_, void(H_, T_...)> : nth_<at_ - 1, void(T_...)> {};
template <class T_, unsigned long long size_, unsigned long long offset_>
struct member_ { typedef argument_<T_, sizeof(T_), offset_, kind_<T_>::is_, size_> told_; };
}
"""
_FIELD = """
namespace fourways_signature {{
template <class T_, class = void> struct field_{number}_ : member_<missing_, 0, 0> {{}};
template <class T_> struct field_{number}_<T_, decltype(void(((T_ *)0)->{path}))>
    : member_<typename plain_<decltype(((T_ *)0)->{path})>::type_, sizeof(((T_ *)0)->{path}),
              __builtin_offsetof(T_, {path})> {{}};
}}
"""
_SIZE = "fourways_signature::told_<fourways_signature::member_<{type}, {size}, 0>::told_{fields}>"


class Thing(NamedTuple):
    """A parameter that gets a value: its name, the value's dtype, and whether the value is an array.

    Numbers that are not typed are converted to the kernel's type later.
    """

    name: str
    dtype: np.dtype
    is_array: bool
    is_typed: bool


class _Field(NamedTuple):
    """A field of a dtype, as C++ names it: `light.colour`; its numbers, its bytes, and where it begins."""

    path: str
    dtype: np.dtype
    size: int
    offset: int


def ask(
    path: Path, entry: str, options: Sequence[str], things: Sequence[Thing], constants: Mapping[str, np.ndarray]
) -> building.Told:
    """Return what the compiler tells of the kernel `entry`, and compare the values with it.

    `things` are the values of its parameters, in order, `constants` those of the module's variables. Raises InputError,
    which says what came and what the kernel wants; BuildError for a kernel that no compiler takes.
    """
    head, types = [_HEAD], list[str]()

    def question(type: str, size: str, dtype: np.dtype) -> None:
        fields = ""
        for number, field in enumerate(_fields(dtype), len(head)):
            head.append(_FIELD.format(number=number, path=field.path))
            fields += f", fourways_signature::field_{number}_<{type}>::told_"
        types.append(_SIZE.format(type=type, size=size, fields=fields))

    for number, thing in enumerate(things):
        if thing.dtype.names:
            question(f"fourways_signature::nth_<{number}, decltype({entry})>::type_", "0", thing.dtype)
    for name, array in constants.items():
        question(f"fourways_signature::plain_<decltype(::{name})>::type_", f"sizeof(::{name})", array.dtype)
    told = building.told(path, entry, options, "".join(head), types)
    answers = iter(told.answers)
    for thing, parameter in zip(things, told.signature.parameters, strict=True):
        members = next(answers).parameters[1:] if thing.dtype.names else ()
        _compare(thing, parameter, members, str(told.signature))
    for (name, array), answer in zip(constants.items(), answers, strict=True):
        _compare_constant(name, array, *answer.parameters)
    return told


def value(name: str, given: Any) -> Any:
    """Return an argument as the ways take it: None, a C-contiguous array, or a NumPy scalar. Raises InputError."""
    if isinstance(given, np.ndarray):
        return np.ascontiguousarray(given) if given.shape else given[()]
    if given is None or isinstance(given, np.generic):
        return given
    came = (
        f"{given!r} has no type" if isinstance(given, bool | int | float | complex) else f"{type(given).__name__} came"
    )
    raise InputError(f"{name}: {came}; write a NumPy array, or a NumPy scalar such as np.int32(5)")


def output(name: str, parameter: Parameter, answer: Any, before: np.ndarray | None) -> np.ndarray:
    """Return an output of the reference in the kernel's dtype; `before` is the array in place, or None.

    Whole numbers of any width fit if the kernel's type holds them. Raises InputError for what does not fit, and NaN.
    """
    right = np.asarray(answer)
    dtype = np.dtype(parameter.dtype or right.dtype)
    if parameter.kind != "output":
        raise InputError(f"reference returns {name}, which the kernel cannot write: {parameter.type} {name}")
    if before is not None:
        dtype = before.dtype
        if right.shape != before.shape:
            raise InputError(f"{name}: reference returns shape {right.shape}; before the launch it has {before.shape}")
    elif parameter.vector and right.dtype.kind in "biuf":
        dtype = np.dtype(parameter.vector[0])
    if parameter.vector and dtype == parameter.vector[0] and right.shape[-1:] != (parameter.vector[1],):
        numbers = f"{parameter.vector[1]} numbers along the last axis"
        raise InputError(f"{name}: reference returns shape {right.shape}; {parameter.type} wants {numbers}")
    are_whole = {dtype.kind, right.dtype.kind} <= {*"iu"}
    if not are_whole and not np.can_cast(right.dtype, dtype, "same_kind"):
        raise InputError(f"{name}: reference returns {right.dtype}; {parameter.type} wants {dtype}: add .astype")
    with np.errstate(over="ignore"):  # a number too large for the dtype is infinite in it
        converted = np.ascontiguousarray(right, dtype).reshape(right.shape)
    if are_whole and (place := _first(converted != right)) is not None:
        hint = f"; if it wraps around, as in C, add .astype(np.{dtype})" if dtype.kind == "u" else ""
        raise InputError(f"{name}: reference returns {right.flat[place]} at element {place}; no {dtype} holds it{hint}")
    if (place := _first(_is_nan(converted))) is not None:
        raise InputError(f"{name}: reference returns NaN at element {place}, and NaN is never right")
    return converted


def read_only(value: Any) -> Any:
    """Return an array that a reference cannot change, because the ways get it, too."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def _compare(thing: Thing, parameter: Parameter, members: Sequence[Parameter], kernel: str) -> None:
    """Raise InputError where a value does not fit a parameter; `members` are the fields in its struct."""
    name, dtype = thing.name, thing.dtype
    if thing.is_array != parameter.is_pointer:
        came, wanted = ("an array", "one value") if thing.is_array else ("one value", "an array")
        raise InputError(f"{name}: {came} came; {parameter.type} wants {wanted}; the kernel is {kernel}")
    size = parameter.element_size if parameter.is_pointer else parameter.size
    if dtype.names:
        return _compare_fields(name, dtype, parameter.element, size, members)
    if not thing.is_typed and (parameter.dtype or parameter.vector):
        return None  # `output` converts it
    # an array may hold the numbers of a vector along its last axis
    numbers = parameter.vector[0] if parameter.vector and parameter.is_pointer else None
    if (dtype.kind == "V" and dtype.itemsize == size) or _is(dtype, parameter.dtype, numbers):
        return None
    if known := parameter.dtype or numbers:
        cure = f"{name}.astype(np.{known})" if parameter.is_pointer else f"np.{known}(...)"
        raise InputError(f"{name}: {dtype} came; {parameter.type} wants {known}: write {cure}")
    fields = "x, y, ..." if parameter.vector else f"those of {parameter.element}"
    raise InputError(
        f"{name}: {dtype} came; {parameter.type} wants {size} bytes each: write a np.dtype with the fields {fields}"
    )


def _compare_constant(name: str, array: np.ndarray, whole: Parameter, *members: Parameter) -> None:
    if array.nbytes != whole.element_size:
        raise InputError(
            f"constants: {name}: {array.nbytes} bytes came; the kernel's variable has {whole.element_size}"
        )
    if array.dtype.names:
        return _compare_fields(f"constants: {name}", array.dtype, whole.type, whole.size, members)
    if not _is(array.dtype, whole.dtype, whole.vector and whole.vector[0]):
        wanted = whole.dtype or f"a np.dtype with the fields of {whole.type}"
        raise InputError(f"constants: {name}: {array.dtype} came; the kernel's {name} wants {wanted}")
    return None


def _compare_fields(name: str, dtype: np.dtype, type: str, size: int, members: Sequence[Parameter]) -> None:
    """Compare a struct's fields. A member's `alignment` is its offset here, its `element_size` that of the whole."""
    pairs = list(zip(_fields(dtype), members, strict=True))
    for field, member in pairs:
        if member.type == "fourways_signature::missing_":
            raise InputError(f"{name}: its dtype has a field {field.path}, {type} has none: call fields as {type} does")
        numbers = member.vector[0] if member.vector else None
        if field.dtype.kind != "V" and (member.dtype or numbers) and not _is(field.dtype, member.dtype, numbers):
            raise InputError(
                f"{name}: its field {field.path} is {field.dtype}; in {type} it is {numbers or member.dtype}"
            )
    if dtype.itemsize == size and all((a.offset, a.size) == (b.alignment, b.element_size) for a, b in pairs):
        return
    if dtype.itemsize == size and all(field.offset == member.alignment for field, member in pairs):
        field, member = next((a, b) for a, b in pairs if a.size != b.element_size)
        raise InputError(
            f"{name}: its field {field.path} has {field.size} bytes; in {type} it has {member.element_size}"
        )
    came = ", ".join(f"{field.path} at {field.offset}" for field, _ in pairs)
    there = ", ".join(f"{field.path} at {member.alignment}" for field, member in pairs)
    top = [(field, member) for field, member in pairs if field.path in (dtype.names or ())]
    offsets = [member.alignment for _, member in top]
    raise InputError(
        f"{name}: {came}, {dtype.itemsize} bytes in all, came; {type} has {there}, {size} bytes in all: write "
        f"np.dtype({{'names': {[field.path for field, _ in top]}, 'formats': [...], 'offsets': {offsets}, "
        f"'itemsize': {size}}})"
    )


def _fields(dtype: np.dtype, path: str = "", offset: int = 0) -> Iterator[_Field]:
    for name in dtype.names or ():
        inner, start = dtype.fields[name][:2]  # type: ignore[index]  # a dtype with names has fields
        numbers = inner.base
        kind = np.dtype(f"V{numbers.itemsize}") if numbers.names else numbers
        yield _Field(path + name, kind, inner.itemsize, offset + start)
        if numbers.names:
            yield from _fields(numbers, f"{path}{name}{'[0]' * len(inner.shape)}.", offset + start)


def _is(dtype: np.dtype, *names: str | None) -> bool:
    """Whether a dtype is one of these, in this machine's order of bytes."""
    return any(name and dtype == np.dtype(name) for name in names)


def _is_nan(array: np.ndarray) -> np.ndarray:
    nan = np.zeros(array.shape, bool)
    for name in array.dtype.names or (...,):
        numbers = array[name]
        if numbers.dtype.kind in "fc":
            nan |= np.isnan(numbers).any(axis=tuple(range(array.ndim, numbers.ndim)))  # a field may be an array
    return nan


def _first(places: np.ndarray) -> int | None:
    return int(places.argmax()) if places.any() else None
