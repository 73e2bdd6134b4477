"""A kernel's signature as the compiler has it: typedefs resolved, what is only read, sizes, NumPy's dtypes.

The file is included in one that instantiates, for each kernel, an empty kernel whose template arguments are the type
of the function and the sizes of its parameters. The compiler writes all of these into the empty kernel's name, which
stands in the PTX. NVRTC is asked first, and nvcc where NVRTC refuses the file. Neither needs a GPU.
"""

import ctypes
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fourways import kernels
from fourways.building.compile import BuildError, build
from fourways.tables import Row, Table

_ASKING = """namespace fourways_signature {{  // before the file, whose macros may be called T; in C++11
template <unsigned long long...> struct numbers;
template <class Argument> struct number {{
    enum : unsigned long long {{ kind = __is_class(Argument) || __is_union(Argument) ? 2 : __is_enum(Argument) }};
    enum : unsigned long long {{ value = 1024 * sizeof(Argument) + 4 * alignof(Argument) + kind }};
}};
template <class Function> struct of;
template <class... Argument> struct of<void(Argument...)> {{ typedef numbers<number<Argument>::value...> sizes; }};
template <int, class Function, class Sizes> __global__ void show() {{}}
}}
#include "{path}"

namespace fourways_signature {{
{instances}
}}
"""
_INSTANCE = "template __global__ void show<{number}, decltype({entry}), of<decltype({entry})>::sizes>();"
_NOT_FOR_PTX = re.compile(r"--?(?:dlto|dlink-time-opt|gen-opt-lto|std=c\+\+03)(?:=true)?")
_SHOWN = re.compile(r"show<(\d+), void \((.*)\), fourways_signature::numbers<(.*?)>\s*>\(\)$")
# namespaces that nobody writes: those of a library's version, and those without a name
_UNWRITTEN = re.compile(r"::(?:__\d+|\w+_NS)(?=::)|\(anonymous namespace\)::")
_TYPE_WORDS = ("bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "const")
_DTYPES = {
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned int": "uint32",
    "wchar_t": "int32",
    "char16_t": "uint16",
    "char32_t": "uint32",
    "long": "int64",
    "unsigned long": "uint64",
    "long long": "int64",
    "unsigned long long": "uint64",
    "__half": "float16",
    "float": "float32",
    "double": "float64",
    "float2": "complex64",
    "double2": "complex128",
    "cuda::std::complex<float>": "complex64",
    "cuda::std::complex<double>": "complex128",
    "thrust::complex<float>": "complex64",
    "thrust::complex<double>": "complex128",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter: its `name` in the text, and its C `type`, typedefs resolved, such as `const float *`.

    `kind` is "input" (a pointer to const), "output" (another pointer: it may be read, too), "scalar" or "struct" (by
    value). `size` and `alignment` are its own, in bytes, not those of what it points to. `dtype` is NumPy's name for an
    element or for the scalar; where there is none, it is None, and `why` says so.
    """

    name: str
    type: str
    kind: str
    size: int
    alignment: int
    dtype: str | None
    why: str = ""


@dataclass(frozen=True)
class Signature:
    """A kernel's name, or a template's instance, and its parameters."""

    entry: str
    parameters: tuple[Parameter, ...]

    def __str__(self) -> str:
        inside = ", ".join(
            f"{each.type}{'' if each.type.endswith('*') else ' '}{each.name}" for each in self.parameters
        )
        return f"{self.entry}({inside})"


def signatures(path: Path | str, entries: Sequence[str] = (), options: Sequence[str] = ()) -> dict[str, Signature]:
    """The signatures of the kernels in the file `path`, by name.

    `entries` are kernels, or instances of templates as `scale<float, 4>`; by default all kernels that are no template.
    `options` go to the compiler. Raises BuildError for what neither NVRTC nor nvcc compiles, and where there is no
    kernel, or one that is named is not there.
    """
    path = Path(path).resolve()
    if {'"', "\n"} & {*str(path)}:
        raise BuildError(f"{path.name!r}: compilers take no path with a quotation mark or a line end in it; rename it")
    written = kernels.parameters(path.read_text(encoding="utf-8"))
    entries = list(entries) or [name for name in written if not _is_template(path, name)]
    if not entries:
        what = f"{path.name} holds " + ("only templates" if written else "no kernel")
        raise BuildError(what, advice=f"name an instance: {next(iter(written))}<float>" if written else "")
    instances = "\n".join(_INSTANCE.format(number=number, entry=entry) for number, entry in enumerate(entries))
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        asking = Path(folder, path.name).with_suffix(".cu")
        asking.write_text(_ASKING.format(path=path, instances=instances), encoding="utf-8")
        try:
            ptx = _ptx(asking, [f"-I{path.parent}", *(each for each in options if not _NOT_FOR_PTX.fullmatch(each))])
        except BuildError as error:
            if lost := [entry for entry in entries if f'identifier "{entry}" is undefined' in str(error)]:
                hidden = "is it in a namespace, a text, an #if? Take it out, or name the kernel that is meant"
                there = hidden if lost[0] in written else f"there are: {', '.join(written)}"
                raise BuildError(f"{path.name}: the compiler finds no kernel {lost[0]}; {there}") from None
            raise
    found = {}
    for name in re.findall(r"\.entry (_ZN18fourways_signature4show\w+)", ptx):
        if not (shown := _SHOWN.search(_demangled(name))):
            raise BuildError(f"{path.name}: the compiler's name of a signature was not understood: {_demangled(name)}")
        entry, types = entries[int(shown[1])], _split(_UNWRITTEN.sub("", shown[2]))
        numbers = [int(number.rstrip("ul")) for number in _split(shown[3])]
        names = _names(written.get(entry.partition("<")[0], ""), len(types))
        found[entry] = Signature(entry, tuple(map(_parameter, names, types, numbers)))
    return {entry: found[entry] for entry in entries}


def signature_rows(found: Iterable[Signature]) -> list[Row]:
    """A row for each parameter of each kernel: `entry`, and what `Parameter` has."""
    return [{"entry": each.entry} | asdict(parameter) for each in found for parameter in each.parameters]


def signature_table(rows: Sequence[Row]) -> Table:
    """The rows of `signature_rows` as a table."""
    columns = [
        ("kernel", lambda row: row["entry"]),
        ("parameter", lambda row: row["name"]),
        ("type", lambda row: row["type"]),
        ("is", lambda row: row["kind"]),
        ("bytes", lambda row: str(row["size"])),
        ("NumPy's dtype", lambda row: row["dtype"] or f"none: {row['why']}"),
    ]
    return Table("signature", rows, columns, "An output is a pointer that is not to const: it may be read as well.")


def _is_template(path: Path, name: str) -> bool:
    text = path.read_text(encoding="utf-8")
    return bool(re.search(rf"template\s*<[^;{{}}()]*>\s*(?:\w+\s+)*__global__[^;{{}}()]*\b{name}\s*\(", text))


def _ptx(path: Path, options: Sequence[str]) -> str:
    """By NVRTC, or else nvcc; functions may be missing (`-rdc`), as those of a program's other units are."""
    try:
        return build(path, "nvrtc", "90", "ptx", ["-rdc=true", *options]).code.decode(errors="replace")
    except BuildError as by_nvrtc:
        try:
            return build(path, "nvcc", "90", "ptx", ["-rdc=true", *options]).code.decode(errors="replace")
        except BuildError:
            raise by_nvrtc from None


def _demangled(name: str) -> str:
    """A C++ name by the C++ library itself, `__cxa_demangle` of the Itanium C++ ABI."""
    demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    demangle.restype = ctypes.c_void_p
    status = ctypes.c_int()
    address = demangle(name.encode(), None, None, ctypes.byref(status))
    if not address:
        return name
    text = ctypes.string_at(address).decode()
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(address)
    return text


def _split(text: str) -> list[str]:
    """What stands between the commas that no bracket encloses; nothing of an empty text or of C's `void`."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "<([") - (sign in ">)]")
        if sign == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def _names(written: str, count: int) -> list[str]:
    """The parameters' names in the text, or numbers where the text does not tell."""
    parts = [re.sub(r"\s*=.*", "", part) for part in _split(written)]  # without default arguments
    names = (
        [re.search(r"[\s*&>](\w+)\s*(?:\)\s*)?(?:\[\w*\]\s*)*$", part) for part in parts]
        if len(parts) == count
        else [None] * count
    )
    return [
        name[1] if name and name[1] not in _TYPE_WORDS else f"argument {number}" for number, name in enumerate(names, 1)
    ]


def _parameter(name: str, shown: str, number: int) -> Parameter:
    """One parameter by its demangled type, such as `float const*`, and its number: size, alignment and kind in one."""
    size, alignment, kind = number // 1024, number % 1024 // 4, number % 4
    if re.search(r"\(\*|\]$|\*.*\*$", shown):  # to a function, an array, a pointer
        read = re.search(r"\bconst(?: \(\*\).*|\*)$", shown)
        why = f"NumPy has no dtype for {shown}"
        return Parameter(name, shown, "input" if read else "output", size, alignment, None, why)
    if shown.endswith("*"):
        pointee = shown[:-1].strip()
        const = bool(re.search(r"\bconst(?: volatile)?$", pointee))
        plain = re.sub(r"\s*\b(?:const|volatile)\b", "", pointee).strip()
        dtype = _DTYPES.get(plain)
        why = "" if dtype else f"NumPy has no dtype for {plain}"
        return Parameter(
            name, f"{'const ' * const}{plain} *", "input" if const else "output", size, alignment, dtype, why
        )
    if kind == 2 and shown not in _DTYPES:
        return Parameter(name, shown, "struct", size, alignment, None, f"a struct of {size} bytes, by value")
    dtype = f"int{8 * size}" if kind == 1 else _DTYPES.get(shown)
    return Parameter(name, shown, "scalar", size, alignment, dtype, "" if dtype else f"NumPy has no dtype for {shown}")
