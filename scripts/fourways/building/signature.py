"""Ask the compiler for a kernel's parameters: types without typedefs, inputs and outputs, sizes, NumPy's dtypes.

A generated file includes the kernel's file. For each kernel it instantiates an empty kernel, whose template argument
is the type that `kernels.TELLING` makes of the kernel. The compiler writes that type into the empty kernel's mangled
name, which can be read from the PTX. NVRTC compiles the file, or nvcc if NVRTC refuses it. Neither needs a GPU.
"""

import math
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from fourways import kernels, toolchain
from fourways.building.compile import BuildError, build
from fourways.kernels import InputError, Limits, Signature
from fourways.tables import Column, Row, Table

_ASKING = """{telling}
namespace fourways_signature {{
template <int, class Told_> __global__ void show_() {{}}
template <int, class F_, F_ *kernel_> __global__ void keep_(void **here_) {{ *here_ = (void *)kernel_; }}
}}
#include "{path}"

{instances}
"""
_INSTANCE = (  # outside of any namespace, so that a kernel may have any name
    "template __global__ void fourways_signature::show_<"
    "{number}, fourways_signature::of_<decltype({entry})>::signature_>();\n"
    "template __global__ void fourways_signature::keep_<{number}, decltype({entry}), {entry}>(void **);"
)
_KEEP = "_ZN18fourways_signature5keep_ILi"
_ENTRY = re.compile(r"\.entry ([\w$]+)\([^)]*\)([^{]*)\{(.*?)\n\}", re.DOTALL)
_DIRECTIVE = re.compile(r"\.(maxntid|reqntid|reqnctapercluster) (\d[\d, ]*)")
_STATIC = re.compile(r"\.shared (?:\.align \d+ )?\.[bfus](\d+) (\w+)(?:\[(\d+)\])?;")
_NOT_FOR_PTX = re.compile(r"--?(?:dlto|dlink-time-opt|gen-opt-lto|std=c\+\+03)(?:=true)?")


def signatures(path: Path | str, entries: Sequence[str] = (), options: Sequence[str] = ()) -> dict[str, Signature]:
    """Return the signatures of the kernels in the file `path`, by name.

    `entries` are kernels, or instances of templates such as `scale<float, 4>`; the default is all kernels that are not
    templates. `options` go to the compiler. Raises BuildError if neither NVRTC nor nvcc compiles the file, and if it
    holds no kernel, or not the named ones. Raises InputError for a path that nvcc cannot be given.
    """
    path = Path(path).resolve()
    kernels.check_path(path)
    there, _ = toolchain.declared(path, options)
    plain = [name for name, kernel in there.items() if kernel.template is None]
    try:
        entries = [kernels.meant(there, entry, path.name) for entry in entries or plain or [""]]
    except InputError as error:
        raise BuildError(str(error)) from None
    instances = "\n".join(_INSTANCE.format(number=number, entry=entry) for number, entry in enumerate(entries))
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        asking = Path(folder, path.name)
        asking.write_text(_ASKING.format(telling=kernels.TELLING, path=path, instances=instances), encoding="utf-8")
        ptx = _ptx(asking, [f"-I{path.parent}", *(each for each in options if not _NOT_FOR_PTX.fullmatch(each))])
    by_entry = {}
    for name, number in re.findall(r"\.entry (_ZN18fourways_signature5show_ILi(\d+)E\w+)", ptx):
        entry = entries[int(number)]
        try:
            told = kernels.signature(entry, kernels.demangled(name), there[entry.partition("<")[0]].written)
            by_entry[entry] = replace(told, limits=_limits(ptx, number))
        except ValueError as error:
            raise BuildError(f"{path.name}: {error}") from None
    return {entry: by_entry[entry] for entry in entries}


def signature_rows(of_kernels: Iterable[Signature]) -> list[Row]:
    """Return a row for each parameter of each kernel: `entry`, and the fields of `Parameter`."""
    return [{"entry": each.entry} | asdict(parameter) for each in of_kernels for parameter in each.parameters]


def signature_table(rows: Sequence[Row]) -> Table:
    """Show the rows of `signature_rows`."""
    columns: list[Column] = [
        ("kernel", "entry"),
        ("parameter", "name"),
        "type",
        ("is", "kind"),
        ("bytes", lambda row: str(row["size"])),
        ("NumPy's dtype", lambda row: row["dtype"] or f"none: {row['why']}"),
    ]
    return Table("signature", rows, columns, "An output is a pointer that is not to const: it may be read as well.")


def _limits(ptx: str, number: str) -> Limits:
    """The limits of the kernel of this number, whose address its `keep_` takes."""
    entries = {each[1]: each for each in _ENTRY.finditer(ptx)}
    keep = next(each[3] for name, each in entries.items() if name.startswith(f"{_KEEP}{number}E"))
    entry = next((entries[word] for word in re.findall(r"[\w$]+", keep) if word in entries), None)
    if not entry:  # the kernel is only declared here: another unit defines it
        return kernels.NO_LIMITS
    told = {name: tuple(map(int, numbers.split(","))) for name, numbers in _DIRECTIVE.findall(entry[2])}
    shared = {name: int(bits) // 8 * int(count or 1) for bits, name, count in _STATIC.findall(ptx) if name in entry[3]}
    block, cluster = told.get("reqntid", ()), told.get("reqnctapercluster", ())
    return Limits(math.prod(told.get("maxntid", (0,))), block, cluster, sum(shared.values()))


def _ptx(path: Path, options: Sequence[str]) -> str:
    """Compile to PTX by NVRTC, else by nvcc. With `-rdc` the file may call functions of other translation units."""
    try:
        return build(path, "nvrtc", "90", "ptx", ["-rdc=true", *options]).code.decode(errors="replace")
    except BuildError as by_nvrtc:
        try:
            return build(path, "nvcc", "90", "ptx", ["-rdc=true", *options]).code.decode(errors="replace")
        except BuildError as by_nvcc:
            words = "\n".join(error.said for error in (by_nvrtc, by_nvcc))
            advice = str(by_nvcc).rpartition("Advice: ")[2]  # nvcc has the host's headers, too
            raise BuildError(f"neither compiler takes {path.name}", words, advice) from None
