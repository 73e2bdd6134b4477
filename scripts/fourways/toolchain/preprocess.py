"""The host's C++ compiler with a cache, and a kernel's file as its preprocessor leaves it: what does it declare?

What people write before a kernel's name cannot be foreseen: macros, attributes, headers. After the preprocessor only
declarations are left. CUDA's own words, such as `__global__`, stay in the text.

What the compiler makes is kept until its command, the source text or an included header changes.
"""

import contextlib
import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fourways import files, kernels
from fourways.kernels import Declared, Variable
from fourways.toolchain.find import host_compiler, include_dirs
from fourways.toolchain.missing import missing

_HOST_CODE = re.compile(r"<<<|\bcuda[A-Z]")
_KEPT = ("__global__", "__device__", "__constant__", "__managed__", "__shared__")
_LIMITS = ("__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__")
_BEGIN = "#pragma fourways begins\n"
_PART = re.compile(r'^# \d+ ("(?:\\.|[^"\n])*")([ 0-9]*)(?:\n(?!# \d)[^\n]*)*', re.MULTILINE)  # of one file
_HASH = re.compile(r"^#[^\n]*", re.MULTILINE)


class Refusal(RuntimeError):
    """The compiler's own words."""


def prologue(text: str) -> str:
    """The C++ text before a kernel file's `text` on the CPU: CUDA's words, and its runtime where the text asks."""
    asks = _HOST_CODE.search(kernels.without_comments(text))
    runtime = '#include <cuda_runtime.h>\n#include "host_calls.hpp"\n' if asks else ""
    return f'{kernels.TELLING}#include "cuda_on_host.hpp"\n{runtime}'


def compiled(unit: str, options: Sequence[str], path: Path, suffix: str = "bin") -> Path:
    """Return the file that the host's C++ compiler makes of a translation unit for the kernel file `path`, cached.

    `options` may hold units to link before this one. `<key>.json` holds the SHA-256 of each header that the unit
    included when last compiled, and the compiled file's name, which is its own SHA-256. So no file that somebody may
    run is ever rewritten with another content, and a damaged one is seen and replaced. Raises FileNotFoundError without
    a compiler, Refusal, and OSError where the cache cannot be used.
    """
    compiler = host_compiler()
    if compiler is None:
        raise FileNotFoundError(missing("host compiler"))
    folder, host = path.parent, kernels.root() / "cpp" / "host"
    headers = [host / "include", *include_dirs()]  # ours replace CUDA's of the same name
    cuda = [word for include in headers for word in ("-isystem", str(include))]
    quoted = ("-iquote", str(folder), "-iquote", str(host))
    command = (*options, *quoted, "-fvisibility=hidden", "-pthread", "-std=c++20", *cuda, "-x", "c++", "-")
    binary = compiler.resolve()
    identity = [str(binary), binary.stat().st_size, binary.stat().st_mtime_ns]  # its version would take a process
    key = hashlib.sha256(json.dumps([unit, str(compiler), *command, str(folder), identity]).encode()).hexdigest()
    cache = files.own_cache_dir()
    manifest = cache / f"{key}.json"
    if built := _whole(manifest):
        return built
    with tempfile.TemporaryDirectory(dir=files.own_cache_dir(to_write=True), prefix="building-") as temporary:
        fresh, listing = (Path(temporary) / name for name in ("built", "listing"))
        output = ("-o", str(fresh), "-MD", "-MF", str(listing), "-MT", "built")
        done = subprocess.run([str(compiler), *command, *output], input=unit.encode(), capture_output=True, cwd=folder)
        if done.returncode:
            raise Refusal(done.stderr.decode(errors="replace").strip())
        included = _parse_listing(listing.read_text(encoding="utf-8"), folder)
        built = cache / f"{_sum(fresh)}.{suffix}"
        fresh.chmod(0o700)
        fresh.replace(built)
        files.write_text(manifest, json.dumps([{header: _sum(Path(header)) for header in included}, built.name]))
    if not os.access(built, os.X_OK):
        why = f"no program can be run in {cache}, whose file system may be mounted noexec"
        raise OSError(f"{why}: set FOURWAYS_CACHE_DIR to a folder elsewhere")
    _make_room(cache)
    return built


def preprocessed(path: Path, options: Sequence[str] = ()) -> str:
    """Return a kernel file's text after the preprocessor, with line markers. Raises as `compiled` does."""
    text = kernels.text_of(path)
    undefined = "".join(f"#undef {word}\n" for word in (*_KEPT, *_LIMITS))
    name = json.dumps(str(path), ensure_ascii=False)
    begin = f"{undefined}#define main fourways_main\n{_BEGIN}#line 1 {name}\n"
    macros = re.findall(r"#include .(.*).$", prologue(text), re.MULTILINE)  # their text itself would fill the cache
    before = [word for header in macros for word in ("-imacros", header)]
    unit = compiled(f"{begin}{text}\n", ("-E", *before, *options), path, suffix="ii")
    return unit.read_text(encoding="utf-8", errors="replace").partition(_BEGIN)[2]


def own(text: str) -> str:
    """A preprocessed text of the same length, in which system headers, line markers and pragmas are blank."""
    entered = {match[1] for match in _PART.finditer(text) if match[2].startswith(" 1 3")}  # others use their macros
    return _PART.sub(lambda part: re.sub(r"[^\n]" if part[1] in entered else _HASH, _blank, part[0]), text)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def declared(path: Path, options: Sequence[str] = ()) -> tuple[dict[str, Declared], list[Variable]]:
    """Return the kernels that a file and its headers declare, by name, and the variables of its module.

    The preprocessor takes -D, -I and -U. Where it cannot read the file, or finds no kernel, the text itself is read.
    """
    try:
        there = kernels.declared(own(preprocessed(path, [each for each in options if each[:2] in ("-D", "-I", "-U")])))
    except (Refusal, OSError):
        there = {}, []
    return there if there[0] else kernels.declared(kernels.without_directives(kernels.text_of(path)))


def _whole(manifest: Path) -> Path | None:
    """Return the compiled file that a manifest names, or None unless it is whole and the headers are as they were."""
    try:
        headers, name = json.loads(manifest.read_text(encoding="utf-8"))
        built = manifest.with_name(name)
        is_whole = _sum(built) == built.stem and os.access(built, os.X_OK)
        if not is_whole or any(_sum(Path(header)) != digest for header, digest in headers.items()):
            return None
        with contextlib.suppress(OSError):  # a cache that can only be read
            for used in (manifest, built):
                os.utime(used)
        return built
    except (OSError, ValueError):
        return None


def _sum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _make_room(cache: Path) -> None:
    """Delete what was not used for longest, until the cache keeps its bound, and what killed compilers left."""
    files.sweep(cache, "building-")
    with contextlib.suppress(FileNotFoundError):  # another process may make room, too
        kept = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in cache.iterdir() if path.is_file())
        excess = sum(size for _, size, _ in kept) - files.CACHE_BYTES
        for _, size, path in kept:
            if excess > 0:
                path.unlink()
                excess -= size


def _parse_listing(listing: str, folder: Path) -> list[str]:
    """The files of a make rule as `-MD` writes it: blanks in a name are escaped, lines end in a backslash."""
    words = re.findall(r"(?:\\.|[^\s\\])+", listing.replace("\\\n", " ").partition(":")[2])
    return [str(folder / word.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$")) for word in words]
