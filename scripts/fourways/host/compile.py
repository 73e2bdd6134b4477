"""Compiles a kernel's file, unchanged, by a C++ compiler."""

import math
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path

from fourways import files, kernels, toolchain
from fourways.host import unit
from fourways.host.module import HostModule
from fourways.host.process import Process
from fourways.toolchain import preprocess

SANITIZERS = {
    "thread": ("-O1", "-g", "-DFOURWAYS_SANITIZED", "-DFOURWAYS_THREADS", "-fsanitize=thread"),
    "address": ("-O1", "-g", "-DFOURWAYS_SANITIZED", "-fsanitize=address"),
    "blocks": ("-O2", "-g", "-fno-pie", "-DFOURWAYS_BLOCKS"),
}
SANITIZE: ContextVar[str | None] = ContextVar("sanitize", default=None)
"""The sanitizer where the caller of `compile` names none."""


def compile(
    source: str | Path,
    options: Sequence[str] = (),
    sanitize: str | None = None,
    timeout: float = 60,
    name_expressions: Sequence[str] = (),
) -> HostModule:
    """Compile the kernels of one file, or take them from the cache. `source` is the file's path, or its text.

    `options` are the C++ compiler's (`-DFACTOR=3`, `-I…` relative to the kernel's folder); `sanitize` is None, for what
    `sanitizing` says, or one of `SANITIZERS`. A launch that finishes no block in `timeout` seconds, rounded up, ends.
    As for CuPy's `RawModule`, a kernel is found by its plain name if it is extern "C". Others, such as `scale<float>`
    and `lab::twice`, are found if `name_expressions` names them. Host code in the file is compiled and never runs.
    Raises CompileError; ValueError where the kernel has no host way; FileNotFoundError without file or compiler.
    """
    path = files.source_file(source).resolve()
    if not path.is_file():
        raise FileNotFoundError(
            f"no file {path}: host.compile takes the path of a file that holds kernels, or its text"
        )
    if isinstance(options, str):
        raise TypeError("options are a tuple of str, such as ('-DFACTOR=3',); a lone str came")
    if sanitize is None and (sanitize := SANITIZE.get()) not in (None, "blocks"):
        options = (*options, "-DFOURWAYS_THREADS")  # each an OS thread from the start: the report can name it
    if sanitize not in (None, *SANITIZERS):
        raise ValueError(f"sanitize is None or one of {', '.join(SANITIZERS)}; {sanitize!r} came")
    read = unit.read(path, options, name_expressions)
    program = None
    while not program:
        try:
            program = _build(read, tuple(options), sanitize)
        except preprocess.Refusal as refusal:
            read.refuse(str(refusal))
    process = Process(program, sanitize in ("thread", "address"))
    return HostModule(path, read.kernels, read.refused, process, max(1, math.ceil(timeout)))


def _build(read: unit.Unit, options: tuple[str, ...], sanitize: str | None) -> Path:
    """Build the program of a unit's kernels. cpp/host/process.cpp, which serves every kernel, is compiled once."""
    text = read.cpp()
    target = SANITIZERS[sanitize] if sanitize else ("-O3",)
    here = kernels.root() / "cpp" / "host" / "process.cpp"
    process = preprocess.compiled('#include "process.cpp"\n', (*target, "-c"), here, suffix="o")
    command = (*target, *options, "-ffunction-sections", "-fdata-sections")
    # what host code calls need not be there; an index beyond an array must not reach the program's own state
    linked: tuple[str, ...] = ("-x", "none", str(process), "-Wl,--gc-sections", "-x", "c++")
    if sanitize == "blocks":  # two steps, because a linker told of -fsanitize=thread takes ThreadSanitizer
        compiler = toolchain.host_compiler()
        is_clang = compiler and "clang" in compiler.resolve().name
        volatile = ("-mllvm", "-tsan-distinguish-volatile") if is_clang else ("--param", "tsan-distinguish-volatile=1")
        instrumented = ("-fsanitize=thread", *volatile, "-c", *command)
        part = preprocess.compiled(text, instrumented, read.path, suffix="o")
        text, command, linked = "", ("-no-pie", *target), (*linked[:4], str(part), *linked[4:])
    return preprocess.compiled(text, (*command, *linked), read.path)
