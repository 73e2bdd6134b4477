"""A kernel compiled by NVRTC or NVCC for one architecture: code, seconds, registers. Needs no GPU and no driver.

Both compilers get your options, the architecture, the toolkit's include folders, the kernel's own folder, and `-v` for
ptxas, which only reports. NVRTC also gets `--no-cache`, so that every build compiles. They get nothing else, so that
the two can be compared. CuPy's `RawModule` adds options, above all `-ftz=true` (denormals are flushed to zero).
"""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fourways import files, kernels, toolchain
from fourways.tables import Column, Row, Table, seconds, summary

COMPILERS = ("nvrtc", "nvcc")

_USED = re.compile(
    r"Compiling entry function '([^']+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    r".*?Used (\d+) registers(?:[^\n]* (\d+) bytes smem)?",
    re.DOTALL,
)

_ADVICE = (
    (
        "libnvrtc-builtins",
        f"NVRTC's second library is missing: `{toolchain.SETUP}` installs it beside the first, libnvrtc; "
        "where it lies in another folder, put that folder into LD_LIBRARY_PATH",
    ),
    ("too much shared data", "more shared memory than a block gets unasked must be dynamic: extern __shared__"),
    (
        "not allowed in JIT mode",
        "NVRTC compiles device code alone: put host code into #ifndef __CUDACC_RTC__, and include the parts of CUB "
        "that you use, as <cub/block/block_reduce.cuh>, rather than <cub/cub.cuh>",
    ),
    (
        r"source file \"(?:\w+|(?:std\w+|math|string|limits|float|assert|time)\.h)\"",  # as NVRTC says it
        "NVRTC has no headers of the host's C and C++: leave the line out (printf, assert and sinf need none), "
        "take <cuda/std/...>, or put it into #ifndef __CUDACC_RTC__",
    ),
    ("cannot open source|No such file", "put that header beside the file, or name its folder with -I/that/folder"),
)


class BuildError(RuntimeError):
    """A failed build. The message is a line that says `what` failed, and below it the tool's own `words`.

    The last line is advice, if there is any: the given one, or one that fits the words. `brief` is one line for a
    table: the first error in the words, without folders, and the advice. `said` is the message without the advice.
    """

    def __init__(self, what: str, words: str = "", advice: str | None = None) -> None:
        words = words.replace("\0", "").strip()
        self.said = f"{what}:\n{words}" if words else what
        fitting = (text for pattern, text in _ADVICE if re.search(pattern, words))
        self.advice = advice = next(fitting, "") if advice is None else advice
        super().__init__(f"{self.said}\nAdvice: {advice}" if advice else self.said)
        first = next((line.strip() for line in words.splitlines() if re.search("(?i)error|fatal", line)), what)
        self.brief = re.sub(r"\S*/(?=[^/\s]+[:(]\d)", "", first) + (f" (advice: {advice})" if advice else "")


@dataclass(frozen=True)
class Resources:
    """The resources of an entry point: registers, stack and spills are per thread, static shared memory per block.

    Spills are the bytes of stores and loads together.
    """

    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_bytes: int


@dataclass(frozen=True)
class Build:
    """A compiled kernel file. `seconds` is wall-clock time; `resources`, by entry point, are those of a cubin only."""

    code: bytes
    seconds: float
    resources: dict[str, Resources]


def build(
    source: Path | str,
    compiler: str = "nvrtc",
    arch: str = "sm_90",
    output: str = "cubin",
    options: Sequence[str] = (),
) -> Build:
    """Compile a kernel; `source` is the path of its file, or its text.

    `compiler` is one of COMPILERS, `output` "cubin" or "ptx", `arch` is "sm_90" or "90". `options` go to the compiler
    unchanged ("-DFACTOR=3", "-use_fast_math", "-lineinfo"). The seconds do not include loading NVRTC's library.
    Raises ValueError for a path that nvcc cannot be given; BuildError if the compiler refuses the kernel.
    """
    path = files.source_file(source)
    kernels.check_path(path)
    number = arch.removeprefix("sm_")
    code, seconds, log = {"nvrtc": _nvrtc, "nvcc": _nvcc}[compiler](path, number, output, options)
    return Build(code, seconds, of_log(log))


def _refused(compiler: str, path: Path, number: str, log: str) -> BuildError:
    return BuildError(f"{compiler} could not compile {path.name} for sm_{number}", log)


def _nvrtc(path: Path, number: str, output: str, options: Sequence[str]) -> tuple[bytes, float, str]:
    # cuda.bindings, not cuda.core: its Program asks the driver before it makes PTX, and there may be none
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()  # loads the library
    except (ImportError, RuntimeError) as problem:
        raise BuildError(f"NVRTC cannot be loaded ({problem}): {toolchain.SETUP}") from None
    target = [f"-arch=compute_{number}"] if output == "ptx" else [f"-arch=sm_{number}", "--ptxas-options=-v"]
    # on machines with a driver NVRTC 13.0 has a cache, which confuses builds with and without -ftz
    words = [*target, "--no-cache", *options, *(f"-I{folder}" for folder in (path.parent, *toolchain.include_dirs()))]
    source = kernels.text_of(path).encode()
    start = time.perf_counter()
    error, program = nvrtc.nvrtcCreateProgram(source, path.name.encode(), 0, [], [])
    if error:
        raise _refused("NVRTC", path, number, error.name)
    try:
        (error,) = nvrtc.nvrtcCompileProgram(program, len(words), [word.encode() for word in words])
        seconds = time.perf_counter() - start
        log = _fetch(nvrtc, program, "ProgramLog").decode(errors="replace")
        if error:
            raise _refused("NVRTC", path, number, log.strip("\0\n ") or error.name)
        return _fetch(nvrtc, program, output.upper()), seconds, log
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _fetch(nvrtc, program, what: str) -> bytes:  # type: ignore[no-untyped-def]  # a module and its handle
    """Return an output of NVRTC by its two calls: nvrtcGet<what>Size, then nvrtcGet<what> into such a buffer."""
    error, size = getattr(nvrtc, f"nvrtcGet{what}Size")(program)
    buffer = b"" if error else b"\0" * size
    if error or (error := getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)[0]):
        raise BuildError(f"NVRTC has no {what}: {error.name}")
    return buffer


def _nvcc(path: Path, number: str, output: str, options: Sequence[str]) -> tuple[bytes, float, str]:
    compiler = toolchain.nvcc()
    if compiler is None:
        raise BuildError(toolchain.NO_NVCC)
    target = [f"-{output}", f"-arch={'compute' if output == 'ptx' else 'sm'}_{number}", "-Xptxas=-v"]
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, f"{path.stem}.{output}")
        command = [str(compiler), *target, *options, f"-I{path.parent}", "-x", "cu", str(path), "-o", str(result)]
        environment = os.environ | toolchain.variables() | {"TMPDIR": folder}  # what nvcc leaves there if it is ended
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)
        seconds = time.perf_counter() - start
        log = done.stdout + done.stderr
        if done.returncode:
            raise _refused("nvcc", path, number, log)
        return result.read_bytes(), seconds, log


def of_log(log: str) -> dict[str, Resources]:
    """Return the resources in the output of `ptxas -v`, by entry point."""
    return {
        name: Resources(int(registers), int(shared or 0), int(stack), int(stores) + int(loads))
        for name, stack, stores, loads, registers, shared in _USED.findall(log)
    }


def is_entry(name: str, entry: str | None) -> bool:
    """Return whether `name` in machine code is the function `entry`, plain or mangled; True without an entry."""
    # without extern "C" a name is mangled: its length, then the name
    return not entry or bool(re.match(rf"{re.escape(entry)}$|.*(?<!\d){len(entry)}{re.escape(entry)}", name))


def rows(
    path: Path, archs: Sequence[str] = ("sm_90",), options: Sequence[str] = (), entry: str | None = None
) -> list[Row]:
    """Build the kernel file `path` by NVRTC and nvcc for each architecture, and return a row for each build.

    `seconds` are the `tables.summary` of three builds, by the host's clock. `registers` and `spill_bytes` (both per
    thread) are those of `entry`, or without it the largest of any entry point. `cubin_bytes` is the size of the machine
    code of the whole file. Where the compiler refuses the kernel, or there is none, these are None, and `not_built`
    says why. Raises BuildError if the file has no entry point, or no `entry`.
    """
    built: list[Row] = []
    for compiler in COMPILERS:
        for arch in archs:
            row: Row = {"kernel": path.name, "compiler": compiler, "arch": arch, "entry": entry, "clock": "host"}
            row |= dict.fromkeys(("seconds", "registers", "spill_bytes", "cubin_bytes", "not_built"))
            built.append(row)
            try:
                builds = [build(path, compiler, arch, options=options) for _ in range(3)]
            except BuildError as refusal:
                row["not_built"] = refusal.brief
                continue
            resources = builds[0].resources
            chosen = [needs for name, needs in resources.items() if is_entry(name, entry)]
            if not chosen:
                named, there = f" {entry!r}" if entry else "", ", ".join(resources) or "none"
                raise BuildError(f"{path.name} has no entry point{named}; there are: {there}")
            row["seconds"] = summary([each.seconds for each in builds])
            row["registers"] = max(needs.registers for needs in chosen)
            row["spill_bytes"] = max(needs.spill_bytes for needs in chosen)
            row["cubin_bytes"] = len(builds[0].code)
    return built


def table(builds: Sequence[Row]) -> Table:
    """Show the rows of `rows`; below the table, the compilers' refusals, each once."""
    columns: list[Column] = ["kernel"] if len({row["kernel"] for row in builds}) > 1 else []
    columns += [
        "compiler",
        "arch",
        ("seconds", lambda row: "not built" if row["not_built"] else seconds(row["seconds"]["median"])),
        "registers",
        ("spills", "spill_bytes"),
        ("bytes", "cubin_bytes"),
    ]
    note = "Host clock, median of three builds without a cache. Registers and bytes of spills per thread."
    refusals = [f"{row['kernel']}, {row['compiler']}: {row['not_built']}" for row in builds if row["not_built"]]
    return Table("build", builds, columns, "\n".join([note, *dict.fromkeys(refusals)]))
