"""Compiles a kernel of `cpp/kernels`, unchanged, by a C++ compiler, and keeps what it compiled."""

import hashlib
import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fourways import files, kernels, toolchain
from fourways.host.launch import Parameter, check_launch
from fourways.host.process import Launch, Process

_NO_HOST_WAY = {
    r"^\s*#\s*include\s*<cub/": "it uses CUB, whose algorithms need a GPU",
    r"^\s*#\s*include\s*<(cooperative_groups|mma\.h|cuda/pipeline|cuda/barrier)": "it includes <{0}>, GPU-only",
    r"^[^/\n]*\basm\b\s*(volatile\s*)?\(": "it has inline PTX",
}
_SANITIZERS = {"thread": ("-fsanitize=thread", "-DFOURWAYS_THREADS"), "address": ("-fsanitize=address",)}
_DYNAMIC_SHARED = re.compile(
    r"extern\s+__shared__\s+(?:(?:__align__|alignas)\s*\([^)]*\)\s*)?([\w:<> ]+?)\s+(\w+)\s*\[\s*\]\s*;"
)
_LINKAGE = re.compile(  # what GCC and Clang say where `_translation_unit` declares a kernel extern "C"
    r"conflicting declaration of .void (\w+)\(.* with .C. linkage"
    r"|declaration of .(\w+). has a different language linkage"
)


class CompileError(RuntimeError):
    """The kernel does not compile; the message holds the compiler's own words."""


class HostKernel:
    """A kernel that runs on NumPy arrays; `signature` holds the types of its parameters."""

    def __init__(self, name: str, number: int, parameters: str, process: Process, timeout: int):
        self.name, self._number, self._process, self._timeout = name, number, process, timeout
        signature = process.signatures[number]
        self.signature = tuple(signature.split(",")) if signature else ()
        self._parameters = [Parameter(text) for text in self.signature]
        names = re.findall(r"(\w+)\s*(?:\[\w*\]\s*)?(?:,|$)", parameters)
        plain = len(names) == len(self.signature)  # no parameter's type has a comma
        self._names = names if plain else [f"argument {i}" for i, _ in enumerate(self.signature, 1)]

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared_mem: int = 0) -> None:
        """Launch it and wait: grid and block are tuples of one to three numbers, `shared_mem` is in bytes.

        A pointer takes a C-contiguous array of its dtype, a scalar NumPy's scalar of that dtype (an integer: also int).
        Raises TypeError or ValueError that name the argument, before anything runs; KernelError, where a thread touches
        what is not in its arrays, divides by zero, aborts, finds no end, cannot be started, or never meets its warp;
        SanitizerError. After an error no array has changed, and the module's own variables begin anew.
        """
        shape, values = check_launch(self.name, self._parameters, grid, block, args, shared_mem)
        self._process.launch(
            Launch(
                self.name, self._number, shape, int(shared_mem), self._timeout, self._parameters, self._names, values
            )
        )


class HostModule:
    """The compiled kernels of one file: `path`, and their `names`."""

    def __init__(self, path: Path, parameters: dict[str, str], process: Process, timeout: int):
        self.path, self.names = path, list(parameters)
        self._parameters, self._process, self._timeout = parameters, process, timeout

    def get_function(self, name: str) -> HostKernel:
        """The kernel `name`. Raises ValueError, naming those there are, if there is no such kernel."""
        if name not in self.names:
            raise ValueError(f"no kernel {name!r} in {self.path.name}; there are: {', '.join(self.names)}")
        return HostKernel(name, self.names.index(name), self._parameters[name], self._process, self._timeout)


def compile(
    path: str | Path, options: Sequence[str] = (), sanitize: str | None = None, timeout: int = 60
) -> HostModule:
    """Compile the kernels of one file, or take them from the cache.

    `options` are the C++ compiler's (`-DFACTOR=3`, `-I…` relative to the kernel's folder); `sanitize` is None, "thread"
    or "address". A launch that finishes no block in `timeout` whole seconds is stopped.
    Raises CompileError; ValueError where the kernel has no host way, or where its text stands in place of the path;
    FileNotFoundError without the file or a C++ compiler.
    """
    if "\n" in str(path) or "__global__" in str(path):
        raise ValueError("host.compile takes the path of a file; the text of a kernel came: write it to a file first")
    path = Path(path).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}: host.compile takes the path of a file that holds kernels")
    if type(timeout) is not int or timeout < 1:
        raise ValueError(f"timeout is a whole number of seconds, 1 or more; {timeout!r} came")
    if isinstance(options, str):
        raise TypeError("options are a tuple of str, such as ('-DFACTOR=3',); a lone str came")
    if sanitize not in (None, *_SANITIZERS):
        raise ValueError(f"sanitize is None, 'thread' or 'address'; {sanitize!r} came")
    text = path.read_text(encoding="utf-8")
    for pattern, reason in _NO_HOST_WAY.items():
        if found := re.search(pattern, text, re.MULTILINE):
            raise ValueError(f"{path.name} has no host way: {reason.format(*found.groups())}")
    parameters = kernels.parameters(text)
    if not parameters:
        raise ValueError(f"{path} holds no `__global__ void` function")
    built = _build(path, _translation_unit(path, text, list(parameters)), tuple(options), sanitize)
    return HostModule(path, parameters, Process(built, bool(sanitize)), timeout)


def _translation_unit(path: Path, text: str, names: Sequence[str]) -> str:
    """The C++ text of a kernel file: the kernels with their own line numbers, then the list of them."""
    text = _DYNAMIC_SHARED.sub(r"auto *const \2 = fourways::dynamic_shared<\1>();", text)
    entries = ", ".join(f"Entry<&::{name}>::kernel()" for name in names)
    again = "".join(f'extern "C" decltype({name}) {name};\n' for name in names)  # an error where it was not extern "C"
    return (
        f'#include "cuda_on_host.hpp"\n#line 1 {json.dumps(str(path), ensure_ascii=False)}\n{text}\n'
        f'#line 1 "the list of kernels"\n{again}'
        "namespace fourways { namespace { const std::vector<Kernel> &kernels()\n"
        f"{{ static const std::vector<Kernel> all{{{entries}}}; return all; }} }} }}\n"
    )


def _command(compiler: Path, folder: Path, options: tuple[str, ...], sanitize: str | None) -> list[str]:
    """The compiler's command line for kernels of `folder`; it reads the text from its standard input."""
    target = ("-O1", "-g", "-DFOURWAYS_SANITIZED", *_SANITIZERS[sanitize]) if sanitize else ("-O3",)
    ours = [word for path in (folder, kernels.root() / "cpp" / "host") for word in ("-iquote", str(path))]
    cuda = [word for path in toolchain.include_dirs() for word in ("-isystem", str(path))]
    common = ("-fvisibility=hidden", "-pthread", *options, "-std=c++20")
    return [str(compiler), *target, *common, *ours, *cuda, "-x", "c++", "-"]


def _build(path: Path, unit: str, options: tuple[str, ...], sanitize: str | None) -> Path:
    """The compiled file for a translation unit: from the cache, or fresh and then cached.

    `<key>.json` lists the headers that the unit included when last compiled. The compiled file is named by the key
    and those headers' present contents, so a changed header leads to another name, and no file is ever rewritten.
    """
    compiler = toolchain.host_compiler()
    if compiler is None:
        raise FileNotFoundError(toolchain.missing("host"))
    command = _command(compiler, path.parent, options, sanitize)
    binary = compiler.resolve()
    identity = [str(binary), binary.stat().st_size, binary.stat().st_mtime_ns]  # to ask its version starts a process
    key = hashlib.sha256(json.dumps([unit, command, identity]).encode()).hexdigest()
    cache = files.cache_dir()
    manifest = cache / f"{key}.json"
    if manifest.exists():
        built = _named_by_contents(cache, key, json.loads(manifest.read_text(encoding="utf-8")))
        if built and built.exists():
            return built
    try:
        cache.mkdir(parents=True, exist_ok=True)
        building = tempfile.TemporaryDirectory(dir=cache, prefix="building-")
    except OSError as error:
        hint = "set FOURWAYS_CACHE_DIR to a folder that can be written"
        raise OSError(f"compiled kernels cannot be kept in {cache} ({error.strerror}): {hint}") from error
    with building as folder:
        fresh, listing, names = (Path(folder) / name for name in ("built", "listing", "names"))
        command += ["-o", str(fresh), "-MD", "-MF", str(listing), "-MT", "built"]
        done = subprocess.run(command, input=unit.encode(), capture_output=True, cwd=path.parent)
        if done.returncode:
            words = done.stderr.decode(errors="replace").strip()
            if name := _LINKAGE.search(words):
                words = f'{name[1] or name[2]} must be extern "C": no other way finds it by its plain name\n{words}'
            raise CompileError(f"{path.name} does not compile with {compiler}:\n{words}")
        included = _parse_listing(listing.read_text(encoding="utf-8"), path.parent)
        built = _named_by_contents(cache, key, included)
        assert built, "a header vanished while the compiler ran"
        names.write_text(json.dumps(included), encoding="utf-8")
        fresh.replace(built)
        names.replace(manifest)
    return built


def _named_by_contents(cache: Path, key: str, included: list[str]) -> Path | None:
    digest = hashlib.sha256(key.encode())
    for header in included:
        try:
            digest.update(hashlib.sha256(Path(header).read_bytes()).digest())
        except OSError:
            return None
    return cache / f"{digest.hexdigest()}.bin"


def _parse_listing(listing: str, folder: Path) -> list[str]:
    """The files of a make rule as `-MD` writes it: blanks in a name are escaped, lines end in a backslash."""
    words = re.findall(r"(?:\\.|[^\s\\])+", listing.replace("\\\n", " ").partition(":")[2])
    return [str(folder / word.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$")) for word in words]
