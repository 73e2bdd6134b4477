"""Facts about kernels: the catalogue of `cpp/kernels`, a file's functions, and the signature of each.

A compiler knows a signature with typedefs resolved, const pointers and sizes. `TELLING` makes a type of it, and
`signature` reads that type's name. `building` and `host` run the compilers.
"""

import codecs
import keyword
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

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

STRING = r"""R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.[^'\n]{0,8}|[^'\\\n])'"""
_SIGN = re.compile(rf"{STRING}|[(){{}};]", re.DOTALL)
_COMMENT = re.compile(rf"({STRING})|//[^\n]*|/\*.*?\*/".replace(r"\1", r"\2"), re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
BRACKETS = r"\((?:[^()]|" * 5 + r"\([^()]*\)" + r")*\)" * 5
_ATTRIBUTE = re.compile(rf"\b(?:__\w+__|alignas|requires|noexcept)\s*{BRACKETS}|\[\[.*?\]\]", re.DOTALL)
_DECLARED_LIMIT = re.compile(rf"\b__(launch_bounds|cluster_dims)__\s*({BRACKETS})")
_NAMESPACE = re.compile(r"\bnamespace\b([\w:\s]*)$")
_KERNEL = re.compile(r"((?:\w+\s*::\s*)*\b\w+)\s*(<[^;{}()]*>)?\s*\(")
_VARIABLE = re.compile(r"\b__(?:constant|device|managed)__\b")
_TOLD = re.compile(r"fourways_signature::told_<(.*?) ?>(?: ?>\(\))?$")
_ADDRESSES = re.compile(r"\(\*|\]$|\*.*\*$")  # a pointer to a function, an array or a pointer
_TO_CONST = re.compile(r"\bconst(?: volatile)?(?: \(\*\).*|\*)$")
_QUALIFIED = re.compile(r"\s*\b(?:const|volatile)\b")
# namespaces that nobody writes: those of a library's version, and those without a name
_UNWRITTEN = re.compile(r"::(?:__\d+|\w+_NS)(?=::)|\(anonymous namespace\)::")
_VECTOR = re.compile(r"(?:const )?(?:(float|double)|(u?)(?:char|short|int|long|longlong))([1-4])(?:_16a|_32a)?(?: \*)?")
_TYPE = re.compile(r"(?:class|typename)\b")
_TYPE_WORDS = ("bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "const")
DTYPES = {
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
"""NumPy's names for C's types of numbers, such as `unsigned char`."""


class InputError(ValueError):
    """The user named or wrote something unusable; the message says what to mend. Commands end with exit code 2."""


class NotThereError(InputError):
    """A name that means nothing here: no such lesson, no such file."""


@dataclass
class Declared:
    """A kernel that a text declares: its `name` with the namespaces, and its parameters as `written` there.

    `template` are a template's own parameters; None: it is none. `is_c` says whether it is extern "C". The definition
    stands at `start` to `end` in the text, its body from `body` on; all three are 0 of a mere declaration. `bounds` and
    `cluster` are what stands in the brackets of its `__launch_bounds__` and `__cluster_dims__`.
    """

    name: str
    written: str
    template: str | None
    is_c: bool
    start: int = 0
    body: int = 0
    end: int = 0
    is_overloaded: bool = False
    bounds: str = ""
    cluster: str = ""

    @property
    def symbol(self) -> str:
        """The plain name of an extern "C" kernel, without namespaces; the whole name of another one."""
        return self.name.rpartition("::")[2] if self.is_c else self.name

    @property
    def example(self) -> str:
        """The name to ask for: of a template an instance, such as `scale<float, 128>`."""
        if self.template is None:
            return self.name
        needed = [each for each in _split(self.template) if "=" not in each]
        return f"{self.name}<{', '.join('float' if _TYPE.match(each) else '128' for each in needed)}>"


@dataclass(frozen=True)
class Variable:
    """A variable of a module, `__constant__` or `__device__`: its name with the namespaces; has it an initial value?"""

    name: str
    is_constant: bool
    is_initialised: bool


@dataclass(frozen=True)
class Parameter:
    """One parameter: its `name` in the text, and its C `type`, typedefs resolved, such as `const float *`.

    `kind` is "input" (a pointer to const), "output" (another pointer: it may be read, too), "scalar" or "struct" (by
    value). `size` and `alignment` are its own, in bytes, not those of what it points to. `dtype` is NumPy's name for an
    element or for the scalar; where there is none, it is None, and `why` says so. `element_size` is that of what it
    points to, in bytes; 0 where it is no pointer, or one to void, a function or a type that is not defined.
    """

    name: str
    type: str
    kind: str
    size: int
    alignment: int
    dtype: str | None
    why: str = ""
    element_size: int = 0

    @property
    def is_pointer(self) -> bool:
        """Whether it is an input or an output."""
        return self.kind in ("input", "output")

    @property
    def is_integer(self) -> bool:
        """Whether it is a whole number, by value."""
        return self.kind == "scalar" and "int" in (self.dtype or "")

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


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Signature:
    """A kernel's name, or a template's instance, and its parameters; its limits, where a GPU's compiler told them."""

    entry: str
    parameters: tuple[Parameter, ...]
    limits: Limits = field(default=NO_LIMITS, compare=False)

    def __str__(self) -> str:
        inside = ", ".join(
            f"{each.type}{'' if each.type.endswith('*') else ' '}{each.name}" for each in self.parameters
        )
        return f"{self.entry}({inside})"


class KernelCase(Protocol):
    """The attributes that the ways and the packages need of a kernel of the user's own; `case.Case` has them.

    `make_inputs(size)` gives the size and the inputs `names`; `reference` of them gives the `outputs` by name. `launch`
    takes the size and the inputs `launch_inputs`, and gives grid, block and bytes of dynamic shared memory. The case's
    file has been executed, once: `has_reference` says whether it defines one.
    """

    path: Path
    source: str
    entry: str
    file: Path | None
    options: tuple[str, ...]
    timeout: int
    rtol: float
    atol: float
    sizes: tuple[int, ...]
    size: str | None
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    in_place: tuple[str, ...]
    has_launch: bool
    launch_inputs: tuple[str, ...]

    @property
    def has_shared(self) -> bool: ...
    @property
    def signature(self) -> Signature: ...
    @property
    def has_reference(self) -> bool: ...
    def launch(self, size: int, *inputs: Any) -> tuple[tuple[int, ...], tuple[int, ...], int]: ...
    def make_inputs(self, size: int) -> tuple: ...
    def reference(self, size: int, *inputs: Any) -> dict[str, Any]: ...


def root() -> Path:
    """The folder of the clone: `FOURWAYS_ROOT`, or the one this package lies in, or one above the current folder.

    Raises FileNotFoundError where none of them is a clone of Four Ways.
    """
    named = os.environ.get("FOURWAYS_ROOT")
    candidates = [Path(named)] if named else [Path(__file__).parents[2], Path.cwd(), *Path.cwd().parents]
    for folder in candidates:
        if (folder / "cpp" / "kernels").is_dir():
            return folder.resolve()
    raise FileNotFoundError(
        "no clone of Four Ways found: run this inside a clone, or set FOURWAYS_ROOT to one (it holds cpp/kernels)"
    )


def names() -> list[str]:
    """The names of all kernels, sorted: `["doublify", ...]`."""
    return sorted(path.stem for path in (root() / "cpp" / "kernels").glob("*.cuh"))


def path(name: str) -> Path:
    """The file of kernel `name`. Raises ValueError, naming the kernels there are, if there is no such kernel."""
    file = root() / "cpp" / "kernels" / f"{name}.cuh"
    if not file.is_file():
        raise ValueError(f"no kernel {name!r} in cpp/kernels; there are: {', '.join(names())}")
    return file


def source(name: str) -> str:
    """The text of kernel `name`, as every way compiles it."""
    return path(name).read_text(encoding="utf-8")


def parameters(text: str) -> dict[str, str]:
    """Map the name of each `__global__` function in a text to its parameters as written there, in the text's order.

    Comments and preprocessor directives do not count, so that of `#if` both branches do. The preprocessor knows better:
    `toolchain.declared`.
    """
    return {kernel.name: kernel.written for kernel in declared(without_directives(text))[0].values()}


def without_directives(text: str) -> str:
    """A C++ text without comments and preprocessor directives: both branches of an `#if` stay."""
    return _DIRECTIVE.sub("", without_comments(text))


def without_comments(text: str) -> str:
    """A C++ text with a blank in place of each comment."""
    return _COMMENT.sub(lambda match: match[1] or " ", text)


def declared(text: str) -> tuple[dict[str, Declared], list[Variable]]:
    """The kernels that a text without comments and directives declares, by name, and the variables of its module."""
    kernels: dict[str, Declared] = {}
    variables: list[Variable] = []
    scopes: list[tuple[str | None, Declared | None]] = []  # a namespace; None in a function, a class or an initialiser
    start = brackets = 0
    for sign in _SIGN.finditer(text):
        if sign[0] in ("(", ")"):
            brackets += 1 if sign[0] == "(" else -1
        if brackets or sign[0] not in ("{", "}", ";"):
            continue
        head, kernel = text[start : sign.start()], None
        names = [name for name, _ in scopes]
        if sign[0] != "}" and "__global__" in head:
            if kernel := _kernel(head, [name for name in names if name]):
                begin = sign.start() - len(head.lstrip())
                kernel.start, kernel.body = (begin, sign.start()) if sign[0] == "{" else (0, 0)
                _add(kernel, kernels)
        elif sign[0] != "}" and None not in names and _VARIABLE.search(head):
            variables += _variables(head, sign[0] == "{", [name for name in names if name])
        if sign[0] == "{":
            namespace = _NAMESPACE.search(head)
            is_c = re.search(r'\bextern\s*"C"\s*$', head)
            scopes.append((namespace[1].strip() if namespace else '"C"' if is_c else None, kernel))
        elif sign[0] == "}" and scopes and (done := scopes.pop()[1]):
            done.end = sign.end()
        start = sign.end()
    return kernels, variables


def _kernel(head: str, scopes: list[str]) -> Declared | None:
    """The kernel that a declaration declares; None for a template's specialisation, which is an instance of it."""
    is_c = '"C"' in scopes or bool(re.search(r'\bextern\s*"C"', head))
    bare, template = _ATTRIBUTE.sub(" ", head), None
    if is_template := re.search(r"\btemplate\s*<", bare):
        end = _closing(bare, is_template.end() - 1)
        template, bare = bare[is_template.end() : end], bare[end + 1 :]
    match = _KERNEL.search(bare)
    if not match or match[2] or template == "":
        return None
    written = bare[match.end() : _closing(bare, match.end() - 1)]
    name = "::".join([*(scope for scope in scopes if scope != '"C"'), re.sub(r"\s", "", match[1])])
    limits = {name: inside[1:-1] for name, inside in _DECLARED_LIMIT.findall(head)}
    return Declared(
        name,
        " ".join(written.split()),
        template,
        is_c,
        bounds=limits.get("launch_bounds", ""),
        cluster=limits.get("cluster_dims", ""),
    )


def _add(kernel: Declared, kernels: dict[str, Declared]) -> None:
    """Add a kernel to those before it: a definition takes the place of a declaration."""
    before = kernels.get(kernel.name)
    if before and before.body and not kernel.body:
        return
    if before:
        kernel.is_c |= before.is_c
        kernel.is_overloaded = before.is_overloaded or bool(before.body)
        kernel.bounds, kernel.cluster = kernel.bounds or before.bounds, kernel.cluster or before.cluster
    kernels[kernel.name] = kernel


def _variables(head: str, has_braces: bool, scopes: list[str]) -> list[Variable]:
    bare = _ATTRIBUTE.sub(" ", head)
    if re.search(r"\(|\btemplate\b|\busing\b", bare.partition("=")[0]) or re.search(r'\bextern\b(?!\s*"C")', bare):
        return []
    variables = []
    for part in _split(bare):
        left, equals, _ = part.partition("=")
        if re.search(r"\b(?:struct|union|class|enum)\b(?:\s+\w+)?\s*$", left):  # its name comes after the braces
            continue
        if name := re.search(r"(\w+)\s*(?:\[[^\[\]]*\]\s*)*$", left):
            whole = "::".join([*(scope for scope in scopes if scope != '"C"'), name[1]])
            variables.append(Variable(whole, "__constant__" in bare, bool(equals) or has_braces))
    return variables


def _closing(text: str, at: int) -> int:
    """The place of the bracket that closes the one at a place; the text's end if there is none."""
    depth = angles = 0
    for place in range(at, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if text[at] == "<" and not depth:  # in brackets it compares
            angles += (text[place] == "<") - (text[place] == ">")
        if not depth and not angles:
            return place
    return len(text)


def meant(there: Mapping[str, Declared], entry: str | None, file: str) -> str:
    """The whole name of the kernel of a `file` that a user means by `entry`, or of the only one that is no template.

    `twice` means `lab::twice` where no other kernel has that name; of a template the instance stays as it is. Raises
    InputError, which names the kernels there are.
    """
    if not there:
        raise InputError(f"{file} holds no kernel: no `__global__ void` function")
    usable = ", ".join(kernel.example for kernel in there.values())
    plain = [name for name, kernel in there.items() if kernel.template is None]
    asked, less, instance = (entry or (plain[0] if len(plain) == 1 else "")).partition("<")
    asked = asked.strip().removeprefix("::")
    names = [asked] if asked in there else [name for name in there if name.endswith(f"::{asked}")]
    if not entry and not asked:
        what = "several kernels; --entry must name one" if plain else "only templates; name an instance"
        raise InputError(f"{file} holds {what}: {usable}")
    if not names:
        raise InputError(f"no kernel {entry!r} in {file}; there are: {usable}")
    if len(names) > 1:
        raise InputError(f"{entry!r} can be {' or '.join(names)}: give the whole name")
    if (kernel := there[names[0]]).is_overloaded:
        raise InputError(f"{file} holds several kernels called {kernel.name}: give each a name of its own")
    if kernel.template is not None and not less:
        raise InputError(f"{kernel.name} is a template: name an instance, such as {kernel.example}")
    return f"{kernel.name}{less}{instance}"


def safe_name(text: str, taken: Collection[str] = ()) -> str:
    """Return a Python name for a C++ name or type: letters, digits and `_`, no keyword, none of the names `taken`.

    `geometry::Clip<float>` becomes `geometry_Clip_float`; `lambda` and taken names get an underscore.
    """
    name = re.sub(r"\W+", "_", re.sub(r"^\W+|\W+$", "", text))
    while keyword.iskeyword(name) or name in taken:
        name += "_"
    return name


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


def is_file(name: str) -> bool:
    """Whether a user who says `name` means a kernel file, by its ending, rather than a lesson or a kernel."""
    return Path(name).suffix in (".cu", ".cuh")


def check_path(path: Path) -> None:
    """Raise InputError if nvcc cannot be given this path. It calls a shell, which reads signs in the quoted names."""
    for known_as in (path.absolute(), path.resolve()):
        if unfit := sorted({*'"$`\\\n'} & {*str(known_as)}):
            raise InputError(f"{str(known_as)!r}: nvcc takes no path with {' or '.join(map(repr, unfit))}; rename it")


def user_file(name: str) -> Path:
    """The path of a kernel file that a user names. Raises InputError where there is none."""
    if not Path(name).is_file():
        raise NotThereError(f"no file {name}: give the path of a .cu or .cuh, or a lesson's number")
    check_path(Path(name))
    return Path(name)


def encoding_of(path: Path) -> str:
    """The encoding of a kernel file: UTF-8, with or without a byte order mark, or else Latin-1, which every text is."""
    octets = path.read_bytes()
    try:
        octets.decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig" if octets.startswith(codecs.BOM_UTF8) else "utf-8"


def text_of(path: Path) -> str:
    """The text of a kernel file, whatever its encoding is."""
    return path.read_text(encoding=encoding_of(path))


def signature(entry: str, told: str, written: str) -> Signature:
    """The signature of the kernel `entry` from the demangled name of the type that `TELLING` makes of it.

    `written` are its parameters in the text, as `parameters` has them, for their names. Raises ValueError where `told`
    ends in no such name.
    """
    if not (match := _TOLD.search(_UNWRITTEN.sub("", told))):
        raise ValueError(f"the compiler's name of a signature was not understood: {told}")
    types = [_split(each[each.index("<") + 1 : -1]) for each in _split(match[1])]
    names = _names(written, len(types))
    return Signature(entry, tuple(_parameter(name, *each) for name, each in zip(names, types, strict=True)))


def _split(text: str) -> list[str]:
    """Split at the commas outside of brackets; an empty text gives an empty list."""
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
    names = []
    for number, part in enumerate(parts if len(parts) == count else [""] * count, 1):
        name = re.search(r"[\s*&>](\w+)\s*(?:\)\s*)?(?:\[\w*\]\s*)*$", part)
        names.append(name[1] if name and name[1] not in _TYPE_WORDS else f"argument {number}")
    return names


def _parameter(name: str, shown: str, *numbers: str) -> Parameter:
    """Make a parameter of its demangled type, such as `float const*`, and the numbers of `argument_` in `TELLING`."""
    size, alignment, category, element_size = (int(number.rstrip("ul")) for number in numbers)
    is_struct = category == 2 and shown not in DTYPES
    if not (kind := _pointer_kind(shown)):
        kind = "struct" if is_struct else "scalar"
    is_plain = shown.endswith("*") and not _ADDRESSES.search(shown)
    element = _QUALIFIED.sub("", shown[:-1]).strip() if is_plain else shown
    type = f"{'const ' if kind == 'input' else ''}{element} *" if is_plain else shown
    dtype = f"int{8 * size}" if category == 1 else DTYPES.get(element)
    why = f"a struct of {size} bytes, by value" if kind == "struct" else f"NumPy has no dtype for {element}"
    return Parameter(name, type, kind, size, alignment, dtype, "" if dtype else why, element_size)


def _pointer_kind(shown: str) -> str | None:
    """Whether a demangled type is an input or an output: only the elements of an input are const. None: no pointer.

    `float const*` and `float const (*) [4]` are inputs; `float*` and `float const**` are outputs.
    """
    if not shown.endswith("*") and not _ADDRESSES.search(shown):
        return None
    return "input" if _TO_CONST.search(shown) else "output"
