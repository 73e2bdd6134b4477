"""Ask the compiler for a kernel's parameters: types without typedefs, inputs and outputs, sizes, NumPy's dtypes.

A generated file includes the kernel's file. For each kernel it instantiates an empty kernel, whose template argument
is the type that `kernels.TELLING` makes of the kernel. The compiler writes that type into the empty kernel's mangled
name, which can be read from the PTX. NVRTC compiles the file, or nvcc if NVRTC refuses it. Neither needs a GPU.
"""

import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from fourways import kernels
from fourways.building.compile import BuildError, build
from fourways.kernels import Signature
from fourways.tables import Column, Row, Table

_ASKING = """{telling}
namespace fourways_signature {{ template <int, class Told_> __global__ void show_() {{}} }}
#include "{path}"

{instances}
"""
_INSTANCE = (  # outside of any namespace, so that a kernel may have any name
    "template __global__ void fourways_signature::show_<"
    "{number}, fourways_signature::of_<decltype({entry})>::signature_>();"
)
_TEMPLATE = re.compile(r"template\s*<[^;{}()]*>\s*(?:\w+\s+)*__global__[^;{}()]*\b(\w+)\s*\(")
_NOT_FOR_PTX = re.compile(r"--?(?:dlto|dlink-time-opt|gen-opt-lto|std=c\+\+03)(?:=true)?")


def signatures(path: Path | str, entries: Sequence[str] = (), options: Sequence[str] = ()) -> dict[str, Signature]:
    """Return the signatures of the kernels in the file `path`, by name.

    `entries` are kernels, or instances of templates such as `scale<float, 4>`; the default is all kernels that are not
    templates. `options` go to the compiler. Raises BuildError if neither NVRTC nor nvcc compiles the file, and if it
    holds no kernel, or not the named ones. Raises InputError for a path that nvcc cannot be given.
    """
    path = Path(path).resolve()
    kernels.check_path(path)
    text = path.read_text(encoding="utf-8")
    written, templates = kernels.parameters(text), {*_TEMPLATE.findall(text)}
    entries = list(entries) or [name for name in written if name not in templates]
    if not entries:
        what = f"{path.name} holds " + ("only templates" if written else "no kernel")
        raise BuildError(what, advice=f"name an instance: {next(iter(written))}<float>" if written else "")
    instances = "\n".join(_INSTANCE.format(number=number, entry=entry) for number, entry in enumerate(entries))
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        asking = Path(folder, path.name).with_suffix(".cu")
        asking.write_text(_ASKING.format(telling=kernels.TELLING, path=path, instances=instances), encoding="utf-8")
        try:
            ptx = _ptx(asking, [f"-I{path.parent}", *(each for each in options if not _NOT_FOR_PTX.fullmatch(each))])
        except BuildError as error:
            if lost := [entry for entry in entries if f'identifier "{entry}" is undefined' in str(error)]:
                hidden = "is it in a namespace, a text, an #if? Take it out, or name the kernel that is meant"
                there = hidden if lost[0] in written else f"there are: {', '.join(written)}"
                raise BuildError(f"{path.name}: the compiler finds no kernel {lost[0]}; {there}") from None
            raise
    by_entry = {}
    for name, number in re.findall(r"\.entry (_ZN18fourways_signature5show_ILi(\d+)E\w+)", ptx):
        entry = entries[int(number)]
        try:
            by_entry[entry] = kernels.signature(
                entry, kernels.demangled(name), written.get(entry.partition("<")[0], "")
            )
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


def _ptx(path: Path, options: Sequence[str]) -> str:
    """Compile to PTX by NVRTC, else by nvcc. With `-rdc` the file may call functions of other translation units."""
    try:
        return build(path, "nvrtc", "90", "ptx", ["-rdc=true", *options]).code.decode(errors="replace")
    except BuildError as by_nvrtc:
        try:
            return build(path, "nvcc", "90", "ptx", ["-rdc=true", *options]).code.decode(errors="replace")
        except BuildError:
            raise by_nvrtc from None
