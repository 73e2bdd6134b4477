"""Compiles a kernel of `cpp/kernels`, unchanged, by a C++ compiler."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ClassVar

from fourways import files, kernels, toolchain
from fourways.host import cache
from fourways.host.launch import SHARED_BYTES, check_arguments, check_shape
from fourways.host.process import Launch, Process

_NO_HOST_WAY = {
    r"^\s*#\s*include\s*<cub/": "it uses CUB, whose algorithms need a GPU",
    r"^\s*#\s*include\s*<(cooperative_groups/(?!reduce\.h)[^>]*|curand_kernel\.h|mma\.h|cuda/pipeline|cuda/barrier)>": (
        "it includes <{0}>, GPU-only"
    ),
    r"^[^/\n]*\b(?:asm|__asm__)\b\s*(?:volatile|__volatile__)?\s*\(": "it has inline PTX",
}
SANITIZERS = {
    "thread": ("-O1", "-g", "-DFOURWAYS_SANITIZED", "-DFOURWAYS_THREADS", "-fsanitize=thread"),
    "address": ("-O1", "-g", "-DFOURWAYS_SANITIZED", "-fsanitize=address"),
    "blocks": ("-O2", "-g", "-fno-pie", "-DFOURWAYS_BLOCKS"),
}
SANITIZE: ContextVar[str | None] = ContextVar("sanitize", default=None)
"""The sanitizer where the caller of `compile` names none."""

_GCC_VOLATILE = ("--param", "tsan-distinguish-volatile=1")
_DYNAMIC_SHARED = re.compile(
    r"extern\s+__shared__\s+(?:(?:__align__|alignas)\s*\([^)]*\)\s*)?([\w:<> ]+?)\s+(\w+)\s*\[\s*\]\s*;"
)
_LINKAGE = re.compile(  # the errors of GCC and Clang where `_translation_unit` declares a kernel extern "C"
    r"conflicting declaration of .void (\w+)\(.* with .C. linkage"
    r"|declaration of .(\w+). has a different language linkage"
)
_LACKING = re.compile(  # the errors of GCC and Clang at a function of no_host_way.hpp, and at an unknown one
    r"^(?P<file>.*?):(?P<line>\d+):\d+: error: "
    r"(?:.*deleted function (?:.*no_host_way::|')(?P<refused>\w+)(?=[\s\S]*FOURWAYS_REFUSE)"
    r"|.(?P<unknown>__\w+). was not declared in this scope|use of undeclared identifier '(?P<undeclared>__\w+)')",
    re.MULTILINE,
)


class CompileError(RuntimeError):
    """The kernel does not compile; the message holds the compiler's own words."""


Note = Callable[[Sequence[Any], Sequence[int]], Callable[[], None] | None]
"""What `noting` calls with the arguments of a launch and its shape: grid and block, six numbers.

What it returns, if anything, is called after the launch.
"""


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
        SanitizerError. After an error no array has changed, and the module's own variables begin anew.
        """
        shape = check_shape(grid, block, shared_mem, self.max_dynamic_shared_size_bytes)
        values = check_arguments(self.signature, args)
        finished = HostKernel._note(args, shape) if HostKernel._note else None
        self._process.launch(Launch(self.signature, self._number, shape, int(shared_mem), self._timeout, values))
        if finished:
            finished()


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

    def __init__(self, path: Path, parameters: dict[str, str], process: Process, timeout: int):
        self.path, self.names = path, list(parameters)
        self._parameters, self._process, self._timeout = parameters, process, timeout

    def get_function(self, name: str) -> HostKernel:
        """The kernel `name`. Raises ValueError, naming those there are, if there is no such kernel."""
        if name not in self.names:
            raise ValueError(f"no kernel {name!r} in {self.path.name}; there are: {', '.join(self.names)}")
        number = self.names.index(name)
        signature = kernels.signature(name, self._process.told[number], self._parameters[name])
        return HostKernel(signature, number, self._process, self._timeout)


def compile(
    source: str | Path, options: Sequence[str] = (), sanitize: str | None = None, timeout: int = 60
) -> HostModule:
    """Compile the kernels of one file, or take them from the cache. `source` is the file's path, or its text.

    `options` are the C++ compiler's (`-DFACTOR=3`, `-I…` relative to the kernel's folder); `sanitize` is None, for what
    `sanitizing` says, or one of `SANITIZERS`. A launch that finishes no block in `timeout` whole seconds is stopped.
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
    text = path.read_text(encoding="utf-8")
    for pattern, reason in _NO_HOST_WAY.items():
        if match := re.search(pattern, text, re.MULTILINE):
            raise ValueError(f"{path.name} has no host way: {reason.format(*match.groups())}: check it on a GPU")
    parameters = kernels.parameters(text)
    if not parameters:
        raise ValueError(f"{path} holds no `__global__ void` function")
    built = _build(path, _translation_unit(path, text, list(parameters)), tuple(options), sanitize)
    return HostModule(path, parameters, Process(built, sanitize in ("thread", "address")), timeout)


def _build(path: Path, unit: str, options: tuple[str, ...], sanitize: str | None) -> Path:
    """Build the program of a translation unit. cpp/host/process.cpp, which serves every kernel, is compiled once."""
    compiler = toolchain.host_compiler()
    if compiler is None:
        raise FileNotFoundError(toolchain.missing("host compiler"))
    target = SANITIZERS[sanitize] if sanitize else ("-O3",)
    folder = kernels.root() / "cpp" / "host"
    headers = [folder / "include", *toolchain.include_dirs()]  # ours replace CUDA's of the same name
    cuda = [word for include in headers for word in ("-isystem", str(include))]
    common = ("-fvisibility=hidden", "-pthread", "-std=c++20", *cuda, "-x", "c++", "-")
    ours = ("-iquote", str(path.parent), "-iquote", str(folder))
    try:
        process = cache.compiled('#include "process.cpp"\n', compiler, (*target, "-c", *common), folder, "o")
        command = (*target, *options, *ours, *common)
        if sanitize == "blocks":  # two steps, because a linker told of -fsanitize=thread takes ThreadSanitizer
            volatile = ("-mllvm", "-tsan-distinguish-volatile") if "clang" in compiler.resolve().name else _GCC_VOLATILE
            instrumented = ("-fsanitize=thread", *volatile, "-c", *command)
            part = cache.compiled(unit, compiler, instrumented, path.parent, "o")
            unit, command = "", ("-no-pie", *target, *common, "-x", "none", str(part))
        return cache.compiled(unit, compiler, (*command, "-x", "none", str(process)), path.parent)
    except cache.Refusal as refusal:
        words = str(refusal)
    if lacking := _LACKING.search(words):
        where = f"{Path(lacking['file']).name}:{lacking['line']}"
        if refused := lacking["refused"]:
            raise ValueError(f"{where}: {refused} has no host way: check this kernel on a GPU")
        unknown = lacking["unknown"] or lacking["undeclared"]
        raise ValueError(f"{where}: the host way knows no {unknown}: if CUDA does, check this kernel on a GPU")
    if name := _LINKAGE.search(words):
        words = f'{name[1] or name[2]} must be extern "C": no other way finds it by its plain name\n{words}'
    raise CompileError(f"{path.name} does not compile with {compiler}:\n{words}")


def _translation_unit(path: Path, text: str, names: Sequence[str]) -> str:
    """The C++ text of a kernel file: the kernels with their own line numbers, then the list of them."""
    text = _DYNAMIC_SHARED.sub(r"auto *const \2 = fourways::dynamic_shared<\1>();", text)
    entries = ", ".join(f"fourways::Entry<&::{name}>::kernel" for name in names)
    again = "".join(f'extern "C" decltype({name}) {name};\n' for name in names)  # an error where it was not extern "C"
    return (
        f'{kernels.TELLING}#include "cuda_on_host.hpp"\n#line 1 {json.dumps(str(path), ensure_ascii=False)}\n{text}\n'
        f'#line 1 "the list of kernels"\n{again}'
        f"const fourways::Kernel fourways::kernels[] = {{{entries}}};\n"
        f"const unsigned fourways::kernel_count = {len(names)};\n"
    )
