"""Compiles a kernel of `cpp/kernels`, unchanged, by a C++ compiler."""

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fourways import files, kernels, toolchain
from fourways.host.launch import SHARED_BYTES, check_arguments, check_shape
from fourways.host.process import Launch, Process
from fourways.kernels import Declared, Limits, Variable
from fourways.toolchain import cache, preprocess

_INCLUDE = r"^[ \t]*#[ \t]*include[ \t]*"
_NO_HOST_WAY = {
    rf"{_INCLUDE}<cub/": "it uses CUB, whose algorithms need a GPU",
    rf"{_INCLUDE}<(cooperative_groups/(?!reduce\.h)[^>]*|curand_kernel\.h|mma\.h|cuda/pipeline|cuda/barrier)>": (
        "it includes <{0}>, GPU-only"
    ),
}
_PTX = re.compile(r"\b(?:asm|__asm__)\b\s*(?:(?:volatile|__volatile__)\s*)?\(")
_HAS_PTX, _LAUNCHES = "it has inline PTX", "a kernel launches kernels"
SANITIZERS = {
    "thread": ("-O1", "-g", "-DFOURWAYS_SANITIZED", "-DFOURWAYS_THREADS", "-fsanitize=thread"),
    "address": ("-O1", "-g", "-DFOURWAYS_SANITIZED", "-fsanitize=address"),
    "blocks": ("-O2", "-g", "-fno-pie", "-DFOURWAYS_BLOCKS"),
}
SANITIZE: ContextVar[str | None] = ContextVar("sanitize", default=None)
"""The sanitizer where the caller of `compile` names none."""

_GCC_VOLATILE = ("--param", "tsan-distinguish-volatile=1")
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


Note = Callable[[Sequence[Any], Sequence[int]], Any]
"""What `noting` calls with the arguments of a launch and its shape: grid and block, six numbers."""


class HostKernel:
    """A kernel that runs on NumPy arrays; `signature` is its `kernels.Signature`.

    `max_dynamic_shared_size_bytes` is the most that a launch may ask for: set it, as on CuPy's kernels, for more.
    """

    _note: ClassVar[Note | None] = None

    def __init__(self, signature: kernels.Signature, number: int, process: Process, timeout: int):
        self.name, self.signature = signature.entry, signature
        self._number, self._process, self._timeout = number, process, timeout
        self.max_dynamic_shared_size_bytes = SHARED_BYTES

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared_mem: int = 0) -> None:
        """Launch it and wait: grid and block are tuples of one to three numbers, `shared_mem` is in bytes.

        A pointer takes a C-contiguous array of its dtype, a scalar NumPy's scalar of that dtype (an integer: also int).
        Raises TypeError or ValueError that name the argument, before anything runs; KernelError, where a thread touches
        what is not in its arrays, divides by zero, aborts, finds no end, cannot be started, or never meets its warp;
        SanitizerError. After an error no array has changed, and the module's own variables are as before.
        """
        limits = self.signature.limits
        shape = check_shape(grid, block, shared_mem, self.max_dynamic_shared_size_bytes, limits)
        values = check_arguments(self.signature, args)
        if HostKernel._note:
            HostKernel._note(args, shape)
        variables = self._process.memory
        launch = Launch(self.signature, self._number, shape, int(shared_mem), self._timeout, values, variables)
        self._process.launch(launch)


@contextmanager
def noting(note: Note) -> Iterator[None]:
    """Call `note` at each launch of the host way in this block."""
    before, HostKernel._note = HostKernel._note, note
    try:
        yield
    finally:
        HostKernel._note = before


class HostModule:
    """The compiled kernels of one file: `path`, and their `names`."""

    def __init__(
        self,
        path: Path,
        listed: Mapping[str, Declared],
        refused: Mapping[str, Exception],
        process: Process,
        timeout: int,
    ):
        self.path, self.names = path, list(listed)
        self._listed, self._refused, self._process, self._timeout = listed, refused, process, timeout

    def get_function(self, name: str) -> HostKernel:
        """The kernel `name`. Raises ValueError, naming those there are, if there is no such kernel.

        Raises CompileError or ValueError for a kernel that the compiler refused while it took another one of the file.
        """
        if name in self._refused:
            raise self._refused[name]
        if name not in self.names:
            raise ValueError(f"no kernel {name!r} in {self.path.name}; there are: {', '.join(self.names)}")
        number = self.names.index(name)
        told, _, limits = self._process.told[number].partition("\t")
        threads, *cluster = map(int, limits.split())
        signature = replace(
            kernels.signature(name, told, self._listed[name].written),
            limits=Limits(threads, cluster=tuple(cluster) if cluster[0] else ()),
        )
        return HostKernel(signature, number, self._process, self._timeout)

    def get_global(self, name: str) -> np.ndarray:
        """The bytes of a `__constant__` or `__device__` variable, as an array of uint8 that can be written.

        `np.ndarray(4, np.float32, module.get_global("taps"))[:] = taps` fills `__constant__ float taps[4]`, as
        `cupy.ndarray` with CuPy's `get_global` does. Each launch takes the bytes along and brings them back. Raises
        ValueError, naming those there are, if there is no such variable.
        """
        variables = self._process.variables
        if name not in variables:
            there = ", ".join(variables) or "none"
            raise ValueError(f"no variable {name!r} in {self.path.name} that can be written; there are: {there}")
        return variables[name]


def compile(
    source: str | Path,
    options: Sequence[str] = (),
    sanitize: str | None = None,
    timeout: int = 60,
    name_expressions: Sequence[str] = (),
) -> HostModule:
    """Compile the kernels of one file, or take them from the cache. `source` is the file's path, or its text.

    `options` are the C++ compiler's (`-DFACTOR=3`, `-I…` relative to the kernel's folder); `sanitize` is None, for what
    `sanitizing` says, or one of `SANITIZERS`. A launch that finishes no block in `timeout` whole seconds is stopped.
    As for CuPy's `RawModule`, a kernel is found by its plain name if it is extern "C". Others, such as `scale<float>`
    and `lab::twice`, are found if `name_expressions` names them. Host code in the file is compiled and never runs.
    Raises CompileError; ValueError where the kernel has no host way; FileNotFoundError without the file or a C++
    compiler.
    """
    path = files.source_file(source).resolve()
    if not path.is_file():
        raise FileNotFoundError(
            f"no file {path}: host.compile takes the path of a file that holds kernels, or its text"
        )
    if type(timeout) is not int or timeout < 1:
        raise ValueError(f"timeout is a whole number of seconds, 1 or more; {timeout!r} came")
    if isinstance(options, str):
        raise TypeError("options are a tuple of str, such as ('-DFACTOR=3',); a lone str came")
    if sanitize is None and (sanitize := SANITIZE.get()) not in (None, "blocks"):
        options = (*options, "-DFOURWAYS_THREADS")  # each an OS thread from the start: the report can name it
    if sanitize not in (None, *SANITIZERS):
        raise ValueError(f"sanitize is None or one of {', '.join(SANITIZERS)}; {sanitize!r} came")
    raw = kernels.text_of(path)
    for pattern, reason in _NO_HOST_WAY.items():
        if match := re.search(pattern, kernels.without_comments(raw), re.MULTILINE):
            raise ValueError(f"{path.name} has no host way: {reason.format(*match.groups())}: check it on a GPU")
    try:
        text = preprocess.preprocessed(path, options)
    except cache.Refusal as refusal:
        raise _refused(path, str(refusal)) from None
    there, variables = kernels.declared(own := preprocess.own(text))
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
    found = [(match.start(), _HAS_PTX) for match in _PTX.finditer(own)]
    found += [(match.start(), _LAUNCHES) for match in _LAUNCH.finditer(own) if not match[1]]
    for place, reason in found:
        name = next((each.symbol for each in there.values() if each.body < place < each.end), "")
        is_host_code = not name and "__device__" not in own[own.rfind("\n}", 0, place) : place]
        if reason != _LAUNCHES or not is_host_code:
            refused[name] = ValueError(f"{path.name} has no host way: {reason}: check it on a GPU")
    if refused and ("" in refused or refused.keys() >= listed.keys()):
        raise refused.get("") or refused[next(iter(listed))]
    build = functools.partial(_build, path, raw, text, there, variables, tuple(options), sanitize)
    able = {name: kernel for name, kernel in listed.items() if name not in refused}
    try:
        built = build(able)
    except cache.Refusal as refusal:
        wrong = {name: _refused(path, words) for name, words in _errors(text, able, str(refusal))}
        able = {name: kernel for name, kernel in able.items() if name not in wrong}
        if not wrong or not able:
            raise _refused(path, str(refusal)) from None
        refused |= wrong
        try:
            built = build(able)
        except cache.Refusal as again:
            raise _refused(path, str(again)) from None
    return HostModule(path, able, refused, Process(built, sanitize in ("thread", "address")), timeout)


def _refused(path: Path, words: str) -> CompileError | ValueError:
    """The error for the compiler's words: a ValueError where the host way lacks a function."""
    if not (lacking := _LACKING.search(words)):
        return CompileError(f"{path.name} does not compile with {toolchain.host_compiler()}:\n{words}")
    where = f"{Path(lacking['file']).name}:{lacking['line']}"
    if refused := lacking["refused"]:
        return ValueError(f"{where}: {refused} has no host way: check this kernel on a GPU")
    unknown = lacking["unknown"] or lacking["undeclared"]
    return ValueError(f"{where}: the host way knows no {unknown}: if CUDA does, check this kernel on a GPU")


def _build(
    path: Path,
    raw: str,
    text: str,
    there: Mapping[str, Declared],
    variables: Sequence[Variable],
    options: tuple[str, ...],
    sanitize: str | None,
    listed: Mapping[str, Declared],
) -> Path:
    """Build the program of the kernels `listed`. cpp/host/process.cpp, which serves every kernel, is compiled once."""
    unit = _translation_unit(preprocess.prologue(raw), text, there, variables, listed)
    target = SANITIZERS[sanitize] if sanitize else ("-O3",)
    here = kernels.root() / "cpp" / "host" / "process.cpp"
    process = preprocess.compiled('#include "process.cpp"\n', (*target, "-c"), here, suffix="o")
    command = (*target, *options, "-ffunction-sections", "-fdata-sections")
    # what host code calls need not be there; an index beyond an array must not reach the program's own state
    linked: tuple[str, ...] = ("-x", "none", str(process), "-Wl,--gc-sections", "-x", "c++")
    if sanitize == "blocks":  # two steps, because a linker told of -fsanitize=thread takes ThreadSanitizer
        compiler = toolchain.host_compiler()
        is_clang = compiler and "clang" in compiler.resolve().name
        volatile = ("-mllvm", "-tsan-distinguish-volatile") if is_clang else _GCC_VOLATILE
        instrumented = ("-fsanitize=thread", *volatile, "-c", *command)
        part = preprocess.compiled(unit, instrumented, path, suffix="o")
        unit, command, linked = "", ("-no-pie", *target), (*linked[:4], str(part), *linked[4:])
    return preprocess.compiled(unit, (*command, *linked), path)


def _translation_unit(
    prologue: str,
    text: str,
    there: Mapping[str, Declared],
    variables: Sequence[Variable],
    listed: Mapping[str, Declared],
) -> str:
    """The C++ text of a preprocessed file: the kernels listed, others without their bodies, then the lists of them."""
    left_out = [kernel for kernel in there.values() if kernel.body and kernel not in listed.values()]
    for kernel in sorted(left_out, key=lambda kernel: kernel.body, reverse=True):
        lines = re.sub(r"^(?!#)[^\n]+", "", text[kernel.body : kernel.end], flags=re.MULTILINE)
        text = f"{text[: kernel.body]};{lines}{text[kernel.end :]}"
    text = _SHARED.sub(_shared, _LAUNCH.sub(lambda match: match[1] or "", text))
    entries = "".join(_entry(name, kernel) for name, kernel in listed.items())
    known = "".join(f'fourways::variable("{each.name}", ::{each.name}), ' for each in variables)
    return (
        f'{prologue}{text}\n#line 1 "the list of kernels"\n'
        f"const fourways::Kernel fourways::kernels[] = {{{entries}{{}}}};\n"
        f"const fourways::Variable fourways::variables[] = {{{known}{{}}}};\n"
    )


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


def _errors(text: str, able: Mapping[str, Declared], words: str) -> Iterator[tuple[str, str]]:
    """The kernels in whose lines the compiler finds errors, each with its words from there on."""
    for name, kernel in able.items():
        (file, first), (_, last) = _place(text, kernel.start), _place(text, kernel.end)
        for error in _ERROR.finditer(words):
            if error[1] == file and first <= int(error[2]) <= last:
                yield name, words[error.start() :]
                break


def _place(text: str, at: int) -> tuple[str, int]:
    """The file and the line of a place in a preprocessed text."""
    marker = next(reversed([*_MARKER.finditer(text, 0, at)]))
    return marker[2], int(marker[1]) + text.count("\n", marker.end(), at)
