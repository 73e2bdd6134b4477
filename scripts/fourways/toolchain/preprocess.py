"""A kernel's file as the C++ preprocessor leaves it, and the kernels and variables that it then declares.

What people write before a kernel's name cannot be foreseen: macros, attributes, headers. After the preprocessor only
declarations are left. CUDA's own words, such as `__global__`, stay in the text.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from fourways import kernels
from fourways.kernels import Declared, Variable
from fourways.toolchain import cache
from fourways.toolchain.find import host_compiler, include_dirs
from fourways.toolchain.missing import missing

_HOST_CODE = re.compile(r"<<<|\bcuda[A-Z]")
_KEPT = ("__global__", "__device__", "__constant__", "__managed__", "__shared__")
_LIMITS = ("__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__")
_BEGIN = "#pragma fourways begins\n"
_PART = re.compile(r'^# \d+ ("(?:\\.|[^"\n])*")([ 0-9]*)(?:\n(?!# \d)[^\n]*)*', re.MULTILINE)  # of one file
_HASH = re.compile(r"^#[^\n]*", re.MULTILINE)


def prologue(text: str) -> str:
    """The C++ text before a kernel file's `text` on the CPU: CUDA's words, and its runtime where the text asks."""
    runtime = (
        '#include <cuda_runtime.h>\n#include "host_calls.hpp"\n'
        if _HOST_CODE.search(kernels.without_comments(text))
        else ""
    )
    return f'{kernels.TELLING}#include "cuda_on_host.hpp"\n{runtime}'


def compiled(unit: str, command: Sequence[str], path: Path, suffix: str = "bin") -> Path:
    """Return the file that the host's C++ compiler makes of a translation unit for the kernel file `path`, cached.

    `command` holds options, and units for the linker to put before this one. Raises FileNotFoundError without a
    compiler, `cache.Refusal` in its words.
    """
    compiler = host_compiler()
    if compiler is None:
        raise FileNotFoundError(missing("host compiler"))
    folder = kernels.root() / "cpp" / "host"
    headers = [folder / "include", *include_dirs()]  # ours replace CUDA's of the same name
    cuda = [word for include in headers for word in ("-isystem", str(include))]
    quoted = ("-iquote", str(path.parent), "-iquote", str(folder))
    words = (*command, *quoted, "-fvisibility=hidden", "-pthread", "-std=c++20", *cuda, "-x", "c++", "-")
    return cache.compiled(unit, compiler, words, path.parent, suffix)


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

    Of the `options` the preprocessor takes -D, -I and -U. Where it cannot read the file, or a GPU's compiler alone sees
    a kernel, the text itself is read.
    """
    try:
        there = kernels.declared(own(preprocessed(path, [each for each in options if each[:2] in ("-D", "-I", "-U")])))
    except (cache.Refusal, OSError):
        there = {}, []
    return there if there[0] else kernels.declared(kernels.without_directives(kernels.text_of(path)))
