"""Ask the compiler for a kernel's parameters: types without typedefs, inputs and outputs, sizes, NumPy's dtypes.

A generated file includes the kernel's file. For each kernel it instantiates an empty kernel, whose template argument
is the type that `kernels.TELLING` makes of the kernel. The compiler writes that type into the empty kernel's mangled
name, which can be read from the PTX. NVRTC compiles the file, or nvcc if NVRTC refuses it. Neither needs a GPU.
"""

import math
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from fourways import kernels, toolchain
from fourways.building.compile import COMPILERS, BuildError, build
from fourways.kernels import Limits, Signature

_ASKING = """{telling}
namespace fourways_signature {{
template <int, class Told_> __global__ void show_() {{}}
template <int, class F_, F_ *kernel_> __global__ void keep_(void **here_) {{ *here_ = (void *)kernel_; }}
}}
#include "{path}"

{instance}
{more}
"""
_INSTANCE = (  # outside of any namespace, so that a kernel may have any name
    "template __global__ void fourways_signature::show_<"
    "0, fourways_signature::of_<decltype({entry})>::signature_>();\n"
    "template __global__ void fourways_signature::keep_<0, decltype({entry}), {entry}>(void **);"
)
KEPT = """
template <class F_, F_ *kernel_> __global__ void fourways_keep_(void **here_) {{ *here_ = (void *)kernel_; }}
template __global__ void fourways_keep_<decltype({entry}), {entry}>(void **);
"""
"""The lines that make a compiler keep an instance of a template, which nothing in its file uses."""
_KEEP = "_ZN18fourways_signature5keep_ILi0E"
_ENTRY = re.compile(r"\.entry ([\w$]+)\([^)]*\)([^{]*)\{(.*?)\n\}", re.DOTALL)
_DIRECTIVE = re.compile(r"\.(maxntid|reqntid|reqnctapercluster) (\d[\d, ]*)")
_STATIC = re.compile(r"\.shared (?:\.align \d+ )?\.[bfus](\d+) (\w+)(?:\[(\d+)\])?;")
_NOT_FOR_PTX = re.compile(r"--?(?:dlto|dlink-time-opt|gen-opt-lto|std=c\+\+03)(?:=true)?")


class Told(NamedTuple):
    """What the compiler tells of one kernel: its signature, its name in machine code, and the answers to questions."""

    signature: Signature
    symbol: str
    answers: list[Signature]


def told(path: Path, entry: str, options: Sequence[str] = (), head: str = "", types: Sequence[str] = ()) -> Told:
    """Return the signature of the kernel `entry`, and for each of `types` the parameters that it holds.

    A type is the text of a `fourways_signature::told_<...>`, which may use the C++ text `head`; both stand behind the
    kernel's file. Raises BuildError if neither NVRTC nor nvcc compiles this.
    """
    there, _ = toolchain.declared(path, options)
    questions = "\n".join(
        f"template __global__ void fourways_signature::show_<{number}, {type}>();"
        for number, type in enumerate(types, 1)
    )
    ptx = _asked(path, entry, options, f"{head}\n{questions}")
    try:
        signature = kernels.signature(entry, _shown(ptx, 0), there[entry.partition("<")[0]].written)
        answers = [kernels.signature("", _shown(ptx, number), "") for number in range(1, len(types) + 1)]
    except ValueError as error:
        raise BuildError(f"{path.name}: {error}") from None
    kernel = _kernel(ptx)
    return Told(replace(signature, limits=_limits(ptx)), kernel[1] if kernel else entry, answers)


def symbol(path: Path, entry: str, options: Sequence[str], compiler: str) -> str:
    """Return the name of the kernel `entry` in the machine code that a compiler makes.

    The compilers' names may differ: `uint64_t` is `unsigned long long` for NVRTC, and `unsigned long` for nvcc. Raises
    BuildError if the compiler refuses the file.
    """
    kernel = _kernel(_asked(path, entry, options, compilers=(compiler,)))
    return kernel[1] if kernel else entry


def _asked(path: Path, entry: str, options: Sequence[str], more: str = "", compilers: Sequence[str] = COMPILERS) -> str:
    """The PTX whose names tell the types of the kernel `entry`, as number 0, and what `more` asks, by its numbers."""
    instance = _INSTANCE.format(entry=entry)
    text = _ASKING.format(telling=kernels.TELLING, path=path, instance=instance, more=more)
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        asking = Path(folder, path.name)
        asking.write_text(text, encoding="utf-8")
        words = [f"-I{path.parent}", *(each for each in options if not _NOT_FOR_PTX.fullmatch(each))]
        return _ptx(asking, words, compilers)


def _shown(ptx: str, number: int) -> str:
    name = re.search(rf"\.entry (_ZN18fourways_signature5show_ILi{number}E\w+)", ptx)
    return kernels.demangled(name[1]) if name else ""


def _kernel(ptx: str) -> re.Match[str] | None:
    """The entry of the kernel, whose address `keep_` takes; None if another unit defines it."""
    entries = {each[1]: each for each in _ENTRY.finditer(ptx)}
    keep = next(each[3] for name, each in entries.items() if name.startswith(_KEEP))
    return next((entries[word] for word in re.findall(r"[\w$]+", keep) if word in entries), None)


def _limits(ptx: str) -> Limits:
    if not (entry := _kernel(ptx)):
        return Limits()
    told = {name: tuple(map(int, numbers.split(","))) for name, numbers in _DIRECTIVE.findall(entry[2])}
    shared = {name: int(bits) // 8 * int(count or 1) for bits, name, count in _STATIC.findall(ptx) if name in entry[3]}
    block, cluster = told.get("reqntid", ()), told.get("reqnctapercluster", ())
    return Limits(math.prod(told.get("maxntid", (0,))), block, cluster, sum(shared.values()))


def _ptx(path: Path, options: Sequence[str], compilers: Sequence[str]) -> str:
    """Compile to PTX by the first of the compilers that takes the file."""
    refusals: list[BuildError] = []
    for compiler in compilers:
        try:
            return build(path, compiler, "90", "ptx", options).code.decode(errors="replace")
        except BuildError as refusal:
            refusals.append(refusal)
    if len(refusals) == 1:
        raise refusals[0]
    words = "\n".join(refusal.said for refusal in refusals)
    advice = refusals[-1].advice  # nvcc has the host's headers, too
    raise BuildError(f"neither compiler takes {path.name}", words, advice)
