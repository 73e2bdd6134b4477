"""The kernels and variables that a C++ text declares, read without a compiler."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fourways.kernels.catalogue import InputError

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
_TYPE = re.compile(r"(?:class|typename)\b")
_TYPE_WORDS = ("bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "const")


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
    bounds: str = ""
    cluster: str = ""

    @property
    def symbol(self) -> str:
        """The plain name of an extern "C" kernel, without namespaces; the whole name of another one."""
        return self.name.rpartition("::")[2] if self.is_c else self.name

    @property
    def parameters(self) -> list[str]:
        """The parameters' names in the text; `argument 2` where the text has none."""
        return names_in(self.written, len(split(self.written)))

    @property
    def example(self) -> str:
        """The name to ask for: of a template an instance, such as `scale<float, 128>`."""
        if self.template is None:
            return self.name
        needed = [each for each in split(self.template) if "=" not in each]
        return f"{self.name}<{', '.join('float' if _TYPE.match(each) else '128' for each in needed)}>"


@dataclass(frozen=True)
class Variable:
    """A variable of a module, `__constant__` or `__device__`: its name with the namespaces; has it an initial value?"""

    name: str
    is_constant: bool
    is_initialised: bool


def without_directives(text: str) -> str:
    """A C++ text without comments and preprocessor directives: both branches of an `#if` stay.

    The preprocessor knows better: `toolchain.declared`.
    """
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
        head, start = text[start : sign.start()], sign.end()
        if sign[0] == "}":
            if scopes and (done := scopes.pop()[1]):
                done.end = start
            continue
        names, kernel = [name for name, _ in scopes], None
        if "__global__" in head:
            if kernel := _kernel(head, names):
                if sign[0] == "{":
                    kernel.start, kernel.body = sign.start() - len(head.lstrip()), sign.start()
                _add(kernel, kernels)
        elif None not in names and _VARIABLE.search(head):
            variables += _variables(head, sign[0] == "{", names)
        if sign[0] == "{":
            namespace = _NAMESPACE.search(head)
            is_c = re.search(r'\bextern\s*"C"\s*$', head)
            scopes.append((namespace[1].strip() if namespace else '"C"' if is_c else None, kernel))
    return kernels, variables


def _whole(name: str, scopes: list[str | None]) -> str:
    return "::".join([*(scope for scope in scopes if scope not in (None, "", '"C"')), name])


def _kernel(head: str, scopes: list[str | None]) -> Declared | None:
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
    limits = {name: inside[1:-1] for name, inside in _DECLARED_LIMIT.findall(head)}
    return Declared(
        _whole(re.sub(r"\s", "", match[1]), scopes),
        " ".join(written.split()),
        template,
        is_c,
        bounds=limits.get("launch_bounds", ""),
        cluster=limits.get("cluster_dims", ""),
    )


def _add(kernel: Declared, kernels: dict[str, Declared]) -> None:
    before = kernels.get(kernel.name)
    if before and before.body and not kernel.body:
        return
    if before:
        kernel.is_c |= before.is_c
        kernel.bounds, kernel.cluster = kernel.bounds or before.bounds, kernel.cluster or before.cluster
    kernels[kernel.name] = kernel


def _variables(head: str, has_braces: bool, scopes: list[str | None]) -> list[Variable]:
    bare = _ATTRIBUTE.sub(" ", head)
    if re.search(r"\(|\btemplate\b|\busing\b", bare.partition("=")[0]) or re.search(r'\bextern\b(?!\s*"C")', bare):
        return []
    variables = []
    for part in split(bare):
        left, equals, _ = part.partition("=")
        if re.search(r"\b(?:struct|union|class|enum)\b(?:\s+\w+)?\s*$", left):  # its name comes after the braces
            continue
        if name := re.search(r"(\w+)\s*(?:\[[^\[\]]*\]\s*)*$", left):
            variables.append(Variable(_whole(name[1], scopes), "__constant__" in bare, bool(equals) or has_braces))
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
        what = "several kernels; name one" if plain else "only templates; name an instance"
        raise InputError(f"{file} holds {what}: {usable}")
    if not names:
        raise InputError(f"no kernel {entry!r} in {file}; there are: {usable}")
    if len(names) > 1:
        raise InputError(f"{entry!r} can be {' or '.join(names)}: give the whole name")
    kernel = there[names[0]]
    if kernel.template is not None and not less:
        raise InputError(f"{kernel.name} is a template: name an instance, such as {kernel.example}")
    return f"{kernel.name}{less}{instance}"


def split(text: str) -> list[str]:
    """Split at the commas outside of brackets; an empty text gives an empty list."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "<([") - (sign in ">)]")
        if sign == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def names_in(written: str, count: int) -> list[str]:
    """The parameters' names in the text, or numbers where the text does not tell."""
    parts = [re.sub(r"\s*=.*", "", part) for part in split(written)]  # without default arguments
    names = []
    for number, part in enumerate(parts if len(parts) == count else [""] * count, 1):
        name = re.search(r"[\s*&>](\w+)\s*(?:\)\s*)?(?:\[\w*\]\s*)*$", part)
        names.append(name[1] if name and name[1] not in _TYPE_WORDS else f"argument {number}")
    return names
