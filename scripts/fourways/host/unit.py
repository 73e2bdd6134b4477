"""The text that a C++ compiler gets of a kernel's file, and what in the file has no host way."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fourways import kernels, toolchain
from fourways.kernels import Declared, Variable
from fourways.toolchain import preprocess

_INCLUDE = r"^[ \t]*#[ \t]*include[ \t]*"
_NO_HOST_WAY = {
    rf"{_INCLUDE}<cub/": "it uses CUB, whose algorithms need a GPU",
    rf"{_INCLUDE}<(cooperative_groups/(?!reduce\.h)[^>]*|curand_kernel\.h|mma\.h|cuda/pipeline|cuda/barrier)>": (
        "it includes <{0}>, GPU-only"
    ),
}
_PTX = re.compile(r"\b(?:asm|__asm__)\b\s*(?:(?:volatile|__volatile__)\s*)?\(")
_LAUNCH = re.compile(rf"({kernels.STRING})|<<<.*?>>>".replace(r"\1", r"\2"), re.DOTALL)
_SHARED = re.compile(r"(?:\A|(?<=[;{}]))[^;{}]*\b__shared__\b[^;{}]*")
_EXTERN = r'\bextern\b(?!\s*")'
_ALIGNED = re.compile(rf"\balignas\s*{kernels.BRACKETS}|\b__attribute__\s*{kernels.BRACKETS}")
_ARRAY = re.compile(r"^#.*|\b(\w+)\s*\[[^\[\]]*\]((?:\s*\[[^\[\]]*\])*)", re.MULTILINE)
_LEAD = re.compile(r"(?:\s|^#.*|(?:case\b[^:]*|\w+)\s*:(?!:))*", re.MULTILINE)
_MARKER = re.compile(r'^# (\d+) "((?:\\.|[^"\n])*)".*\n', re.MULTILINE)
_LACKING = re.compile(  # the errors of GCC and Clang at a function of no_host_way.hpp, and at an unknown one
    r"^(?P<file>.*?):(?P<line>\d+):\d+: error: "
    r"(?:.*deleted function (?:.*no_host_way::|')(?P<refused>\w+)(?=[\s\S]*FOURWAYS_REFUSE)"
    r"|.(?P<unknown>__\w+). was not declared in this scope|use of undeclared identifier '(?P<undeclared>__\w+)')",
    re.MULTILINE,
)
_ERROR = re.compile(r"^(.+?):(\d+):\d+: (?:fatal )?error: ", re.MULTILINE)


class CompileError(RuntimeError):
    """The kernel does not compile; the message holds the compiler's own words."""


@dataclass
class Unit:
    """A kernel's file after the preprocessor: its whole `text`, and what it declares.

    `kernels` are those to compile, `refused` the errors of those that cannot be. Other kernels lose their bodies.
    """

    path: Path
    prologue: str
    text: str
    declared: dict[str, Declared]
    variables: list[Variable]
    kernels: dict[str, Declared]
    refused: dict[str, Exception]

    def cpp(self) -> str:
        """Return the C++ text: the file with its `kernels`, then the lists of them and of the variables."""
        text = self.text
        left_out = [each for each in self.declared.values() if each.body and each not in self.kernels.values()]
        for kernel in sorted(left_out, key=lambda kernel: kernel.body, reverse=True):
            lines = re.sub(r"^(?!#)[^\n]+", "", text[kernel.body : kernel.end], flags=re.MULTILINE)
            text = f"{text[: kernel.body]};{lines}{text[kernel.end :]}"
        text = _SHARED.sub(_shared, _LAUNCH.sub(lambda match: match[1] or "", text))
        entries = "".join(_entry(name, kernel) for name, kernel in self.kernels.items())
        known = "".join(f'fourways::variable("{each.name}", ::{each.name}), ' for each in self.variables)
        return (
            f'{self.prologue}{text}\n#line 1 "the list of kernels"\n'
            f"const fourways::Kernel fourways::kernels[] = {{{entries}{{}}}};\n"
            f"const fourways::Variable fourways::variables[] = {{{known}{{}}}};\n"
        )

    def refuse(self, words: str) -> None:
        """Move the kernels in whose lines the compiler finds errors to `refused`.

        Raises the error for the compiler's `words` if these name no kernel, or if no kernel is left.
        """
        wrong = {name: _error(self.path, said) for name in self.kernels if (said := self._said_of(name, words))}
        self.refused |= wrong
        self.kernels = {name: kernel for name, kernel in self.kernels.items() if name not in wrong}
        if not wrong or not self.kernels:
            raise _error(self.path, words) from None

    def _said_of(self, name: str, words: str) -> str:
        """Return the compiler's words from the first error in a kernel's lines on."""
        kernel = self.kernels[name]
        (file, first), (_, last) = _place(self.text, kernel.start), _place(self.text, kernel.end)
        errors = (each for each in _ERROR.finditer(words) if each[1] == file and first <= int(each[2]) <= last)
        return next((words[error.start() :] for error in errors), "")


def read(path: Path, options: Sequence[str], name_expressions: Sequence[str]) -> Unit:
    """Preprocess a kernel's file, and choose its kernels: those that are extern "C", and the `name_expressions`.

    Raises CompileError; ValueError where the file has no host way.
    """
    raw = kernels.text_of(path)
    for pattern, reason in _NO_HOST_WAY.items():
        if match := re.search(pattern, kernels.without_comments(raw), re.MULTILINE):
            raise _no_host_way(path, reason.format(*match.groups()))
    try:
        text = preprocess.preprocessed(path, options)
    except preprocess.Refusal as refusal:
        raise _error(path, str(refusal)) from None
    own = preprocess.own(text)
    there, variables = kernels.declared(own)
    listed = {kernel.symbol: kernel for kernel in there.values() if kernel.is_c and kernel.body}
    listed |= {each: there[kernels.meant(there, each, path.name).partition("<")[0]] for each in name_expressions}
    refused: dict[str, Exception] = {
        kernel.symbol: CompileError(f'{kernel.symbol} must be extern "C": no other way finds it by its plain name')
        for kernel in there.values()
        if kernel not in listed.values() and kernel.template is None
    }
    if not listed:
        if refused:
            raise CompileError("\n".join(map(str, refused.values())))
        kernels.meant(there, None, path.name)  # says that there are none, or only templates
    refused |= {name: _no_host_way(path, reason) for name, reason in _for_a_gpu_alone(own, there)}
    if refused and ("" in refused or refused.keys() >= listed.keys()):
        raise refused.get("") or refused[next(iter(listed))]
    able = {name: kernel for name, kernel in listed.items() if name not in refused}
    return Unit(path, preprocess.prologue(raw), text, there, variables, able, refused)


def _for_a_gpu_alone(own: str, there: Mapping[str, Declared]) -> Iterator[tuple[str, str]]:
    """Yield what the CPU cannot do: the symbol of the kernel, "" if it is in none, and the reason."""
    for match in _PTX.finditer(own):
        yield _kernel_at(match.start(), there), "it has inline PTX"
    for match in _LAUNCH.finditer(own):
        name = _kernel_at(match.start(), there)
        if not match[1] and (name or "__device__" in own[own.rfind("\n}", 0, match.start()) : match.start()]):
            yield name, "a kernel launches kernels"


def _kernel_at(place: int, there: Mapping[str, Declared]) -> str:
    return next((each.symbol for each in there.values() if each.body < place < each.end), "")


def _no_host_way(path: Path, reason: str) -> ValueError:
    return ValueError(f"{path.name} has no host way: {reason}: check it on a GPU")


def _error(path: Path, words: str) -> CompileError | ValueError:
    if not (lacking := _LACKING.search(words)):
        return CompileError(f"{path.name} does not compile with {toolchain.host_compiler()}:\n{words}")
    where = f"{Path(lacking['file']).name}:{lacking['line']}"
    if refused := lacking["refused"]:
        return ValueError(f"{where}: {refused} has no host way: check this kernel on a GPU")
    unknown = lacking["unknown"] or lacking["undeclared"]
    return ValueError(f"{where}: the host way knows no {unknown}: if CUDA does, check this kernel on a GPU")


def _entry(name: str, kernel: Declared) -> str:
    """The C++ text of a kernel, or an instance of a template, for the list of kernels, with the limits it declares.

    The limits of a template may name its parameters, which have no meaning outside of it: they are left out.
    """
    entry = f"fourways::Entry<&::{''.join([kernel.name, *name.partition('<')[1:]])}>::kernel"
    if kernel.template is not None:
        return f"{entry}, "
    scopes = itertools.accumulate(kernel.name.split("::")[:-1], "{}::{}".format)  # where the limits' names are found
    using = "".join(f"using namespace ::{scope}; " for scope in scopes)
    return f"[] {{ {using}return fourways::limited({entry}, {{{kernel.bounds}}}, {{{kernel.cluster}}}); }}(), "


def _shared(match: re.Match[str]) -> str:
    """A declaration of shared memory for the CPU: one copy serves all blocks, which run one after another."""
    head = match[0]
    if re.search(_EXTERN, head):
        bare = _ALIGNED.sub("", re.sub(rf"{_EXTERN}|\b__shared__\b", "", head))
        return _ARRAY.sub(
            lambda each: f"(*const &{each[1]}){each[2]} = fourways::dynamic" if each[1] else each[0], bare
        )
    lead = _LEAD.match(head)
    start = lead.end() if lead else 0
    aligned = " ".join(each for each in _ALIGNED.findall(head))
    bare = re.sub(r"\bstatic\b|\b__shared__\b", "", _ALIGNED.sub("", head[start:]))
    return f"{head[:start]}{aligned} static {bare}"


def _place(text: str, at: int) -> tuple[str, int]:
    marker = next(reversed([*_MARKER.finditer(text, 0, at)]))
    return marker[2], int(marker[1]) + text.count("\n", marker.end(), at)
