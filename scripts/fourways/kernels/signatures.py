"""The signature of a kernel, as a compiler knows it: typedefs resolved, const pointers and sizes.

`TELLING` makes a type of a signature, and `signature` reads that type's name. `building` and `host` run the compilers.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from fourways.kernels.declarations import names_in, split

TELLING = """namespace fourways_signature { // in C++11; the underscores are for macros that are called size or T
template <class T_, class = void> struct element_ { enum : unsigned long long { size_ = 0 }; };
template <class T_> struct element_<T_ *, decltype(void(sizeof(T_[1])))> { // what has one
    enum : unsigned long long { size_ = sizeof(T_) };
};
template <class T_> struct kind_ { enum { is_ = __is_class(T_) || __is_union(T_) ? 2 : __is_enum(T_) }; };
template <class T_, unsigned long long size_, unsigned long long alignment_, int, unsigned long long> struct argument_;
template <class...> struct told_ {};
template <class F_> struct of_;
template <class... T_> struct of_<void(T_...)> {
    typedef told_<argument_<T_, sizeof(T_), alignof(T_), kind_<T_>::is_, element_<T_>::size_>...> signature_;
};
}
"""
"""C++ in which the name of the type `fourways_signature::of_<decltype(kernel)>::signature_` tells that of a kernel."""

_TOLD = re.compile(r"fourways_signature::told_<(.*?) ?>(?: ?>\(\))?$")
_ADDRESSES = re.compile(r"\(\*|\]$|\*.*\*$")  # a pointer to a function, an array or a pointer
_TO_CONST = re.compile(r"\bconst(?: volatile)?(?: \(\*\).*|\*)$")
_QUALIFIED = re.compile(r"\s*\b(?:const|volatile)\b")
# namespaces that nobody writes: those of a library's version, and those without a name
_UNWRITTEN = re.compile(r"::(?:__\d+|\w+_NS)(?=::)|\(anonymous namespace\)::")
_VECTOR = re.compile(r"(?:const )?(?:(float|double)|(u?)(?:char|short|int|long|longlong))([1-4])(?:_16a|_32a)?(?: \*)?")
_C_TYPES = {
    "bool": ("bool",),
    "int8": ("char", "signed char"),
    "uint8": ("unsigned char",),
    "int16": ("short",),
    "uint16": ("unsigned short", "char16_t"),
    "int32": ("int", "wchar_t"),
    "uint32": ("unsigned int", "char32_t"),
    "int64": ("long", "long long"),
    "uint64": ("unsigned long", "unsigned long long"),
    "float16": ("__half",),
    "float32": ("float",),
    "float64": ("double",),
    "complex64": ("float2", "cuda::std::complex<float>", "thrust::complex<float>"),
    "complex128": ("double2", "cuda::std::complex<double>", "thrust::complex<double>"),
}
DTYPES = {name: dtype for dtype, names in _C_TYPES.items() for name in names}
"""NumPy's names for C's types of numbers, such as `unsigned char`."""


@dataclass(frozen=True)
class Parameter:
    """One parameter: its `name` in the text, and its C `type`, typedefs resolved, such as `const float *`.

    `kind` is "input" (a pointer to const), "output" (another pointer: it may be read, too), "scalar" or "struct" (by
    value). `size` and `alignment` are its own, in bytes, not those of what it points to. `dtype` is NumPy's name for an
    element or for the scalar, or None where NumPy has none. `element_size` is that of what it points to, in bytes; 0
    where it is no pointer, or one to void, a function or a type that is not defined.
    """

    name: str
    type: str
    kind: str
    size: int
    alignment: int
    dtype: str | None
    element_size: int = 0

    @property
    def is_pointer(self) -> bool:
        """Whether it is an input or an output."""
        return self.kind in ("input", "output")

    @property
    def element(self) -> str:
        """The C type of the elements that a pointer points to, or of the value, without const."""
        return self.type.removeprefix("const ").removesuffix("*").strip()

    @property
    def vector(self) -> tuple[str, int] | None:
        """The dtype of the numbers in one of CUDA's vector types, and their count: ("float32", 4) for `float4 *`."""
        if not (parts := _VECTOR.fullmatch(self.type)):
            return None
        real, unsigned, count = parts.groups()
        bits = 8 * (self.element_size if self.is_pointer else self.size) // int(count)
        return f"{'float' if real else unsigned + 'int'}{bits}", int(count)


class Limits(NamedTuple):
    """What a kernel says of its launches; 0 and () stand for nothing.

    The most `threads` of a block (`__launch_bounds__`), its one `block` (`__block_size__`), and the blocks of a
    `cluster` (`__cluster_dims__`). `shared_bytes` are those of its static shared memory.
    """

    threads: int = 0
    block: tuple[int, ...] = ()
    cluster: tuple[int, ...] = ()
    shared_bytes: int = 0


@dataclass(frozen=True)
class Signature:
    """A kernel's name, or a template's instance, and its parameters; its limits, where a GPU's compiler told them."""

    entry: str
    parameters: tuple[Parameter, ...]
    limits: Limits = field(default=Limits(), compare=False)

    def __str__(self) -> str:
        inside = ", ".join(
            f"{each.type}{'' if each.type.endswith('*') else ' '}{each.name}" for each in self.parameters
        )
        return f"{self.entry}({inside})"


def demangled(symbol: str) -> str:
    """Return the C++ name of a mangled symbol, by `__cxa_demangle` of the C++ library; another symbol unchanged."""
    import ctypes  # not above: processes whose imports are timed import this module

    demangle = ctypes.CDLL("libstdc++.so.6")["__cxa_demangle"]
    demangle.restype = ctypes.c_void_p
    address = demangle(symbol.encode(), None, None, None) if symbol.startswith("_Z") else None
    if not address:
        return symbol
    text = ctypes.string_at(address).decode()
    ctypes.CDLL(None).free(ctypes.c_void_p(address))
    return text


def signature(entry: str, told: str, written: str) -> Signature:
    """The signature of the kernel `entry` from the demangled name of the type that `TELLING` makes of it.

    `written` are its parameters in the text, for their names. Raises ValueError where `told` ends in no such name.
    """
    if not (match := _TOLD.search(_UNWRITTEN.sub("", told))):
        raise ValueError(f"the compiler's name of a signature was not understood: {told}")
    types = [split(each[each.index("<") + 1 : -1]) for each in split(match[1])]
    names = names_in(written, len(types))
    return Signature(entry, tuple(_parameter(name, *each) for name, each in zip(names, types, strict=True)))


def _parameter(name: str, shown: str, *numbers: str) -> Parameter:
    """Make a parameter of its demangled type, such as `float const*`, and the numbers of `argument_` in `TELLING`."""
    size, alignment, category, element_size = (int(number.rstrip("ul")) for number in numbers)
    kind = _pointer_kind(shown) or ("struct" if category == 2 and shown not in DTYPES else "scalar")
    is_plain = shown.endswith("*") and not _ADDRESSES.search(shown)
    element = _QUALIFIED.sub("", shown[:-1]).strip() if is_plain else shown
    type = f"{'const ' if kind == 'input' else ''}{element} *" if is_plain else shown
    dtype = f"int{8 * size}" if category == 1 else DTYPES.get(element)
    return Parameter(name, type, kind, size, alignment, dtype, element_size)


def _pointer_kind(shown: str) -> str | None:
    """Whether a demangled type is an input or an output: only the elements of an input are const. None: no pointer.

    `float const*` and `float const (*) [4]` are inputs; `float*` and `float const**` are outputs.
    """
    if not shown.endswith("*") and not _ADDRESSES.search(shown):
        return None
    return "input" if _TO_CONST.search(shown) else "output"
