"""Fill a template with a kernel and its case: a package for pip, with one Python function that checks its arguments.

`fourways package --help` says what the function asks for, and what the case leaves out by `derived`. These expressions
stand in the package for people to read; a copy of the case's `launch` would need whatever that function uses.
"""

import builtins
import keyword
import re
import shutil
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fourways import kernels
from fourways.own_kernel import Case, CaseError

_TEMPLATE = Path(__file__).with_name("template")
_COPIED = {"aot/gpu_array.hpp": "", "aot/gpu_array.cpp": "", "glibc/bits/mathcalls.h": "glibc/bits/", "../LICENSE": ""}
_LAUNCH = ("grid", "block", "shared")
_MEANT = {*_LAUNCH, *keyword.kwlist, *["stream", "math", "np", "struct", "Number", "case", "pytest", "made", "compare"]}
_TAKEN = {*sys.stdlib_module_names, "case", "cupy", "numpy", "pytest", "torch"}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)', re.MULTILINE)


def write(case: Case, folder: Path) -> None:
    """Write a package, named as its new folder, whole or not at all.

    Raises ValueError for a folder that cannot be, CaseError for a case that fits no package, and what the case raises.
    """
    check_folder(folder)
    environment = Environment(loader=FileSystemLoader(_TEMPLATE), undefined=StrictUndefined, trim_blocks=True)
    environment.lstrip_blocks = environment.keep_trailing_newline = True
    copies = _kernel_files(case)
    context = _context(case) | {"name": folder.name, "source": "".join(kernels.text_of(path) for path in copies)}
    copies |= {case.file: "tests/case.py"} | {
        kernels.root() / "cpp" / path: f"src/{to}{Path(path).name}" for path, to in _COPIED.items()
    }
    with tempfile.TemporaryDirectory(dir=folder.absolute().parent, prefix=f".{folder.name}.") as made:
        whole = Path(made, folder.name)
        for name in environment.list_templates():
            path = whole / name.replace("NAME", folder.name).removesuffix(".jinja")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(environment.get_template(name).render(context), encoding="utf-8")
        for source, target in copies.items():
            (whole / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, whole / target)
        whole.rename(folder)


def check_folder(folder: Path) -> None:
    """Raise ValueError for a folder that is there, that cannot be made, or whose name no package can have."""
    name = folder.name
    if not re.fullmatch(r"[A-Za-z](\w*[A-Za-z0-9])?", name, re.ASCII) or keyword.iskeyword(name) or name in _TAKEN:
        raise ValueError(f"the folder's name becomes the package's, and {name!r} cannot be one: name another folder")
    if folder.exists() or folder.is_symlink():
        raise ValueError(f"{folder} is there already: delete it, or name another folder")
    if not folder.absolute().parent.is_dir():
        raise ValueError(f"there is no folder {folder.absolute().parent}: make it first, or name another")


def _kernel_files(case: Case) -> dict[Path, str]:
    """Map the kernel's file, and the headers that it includes from its folder or the options', to their new places."""
    found, waiting = dict[Path, str](), [case.path.resolve()]
    folders = [waiting[0].parent, *(Path(option[2:]).resolve() for option in case.options if option.startswith("-I"))]
    for path in waiting:  # which grows meanwhile
        home = next((folder for folder in folders if path.is_relative_to(folder)), None)
        if home is None:
            raise CaseError(f"{case.path.name} includes {path}: copy that header into the folder of the kernel first")
        found[path] = f"src/kernel/{path.relative_to(home)}"
        for header in _INCLUDE.findall(kernels.text_of(path)):
            places = [(folder / header).resolve() for folder in (path.parent, *folders)]
            waiting += [place for place in [each for each in places if each.is_file()][:1] if place not in waiting]
    return found


def _context(case: Case) -> dict[str, Any]:
    sizes = sorted({*case.sizes}) or [0, 1, 33, 1000]
    given = {size: case.arguments(size) for size in sizes}
    right = {size: case.right(size, given[size]) for size in sizes}
    launches = {size: dict(zip(_LAUNCH, case.launch(size, given[size]), strict=True)) for size in sizes}
    for size in [size for size in sizes if size > 1][:3] or sizes:  # the extents of a single element are all alike
        _check_derived(case, {**given[size], **right[size], **launches[size]}, size)
    rows = _rows(case, given[sizes[-1]], right[sizes[-1]])
    function, text = re.sub(r"<.*|.*::|\s", "", case.kernel), " ".join(case.derived.values())
    if bad := {function, *(row["name"] for row in rows)} & _MEANT or {function} & {*dir(builtins)}:
        raise CaseError(f"{min(bad)} means something else in Python or in the package: rename it in {case.path.name}")
    results = [key for key in case.derived if key not in {row["name"] for row in rows if row["is_array"]}]
    asked = [row for row in rows if row["name"] not in results]
    used = [row for row in asked if re.search(rf"\b{row['name']}\b", f"{text} {' '.join(case.derived)}")]
    launch = [key for key in _LAUNCH if key not in results and any(each[key] for each in launches.values())]
    options = [re.sub(r'(["\\;$])', r"\\\1", each) for each in case.options if not each.startswith("-I")]
    context = {"case": case, "function": function, "rows": rows, "asked": asked}
    context |= {"used": used, "text": text, "results": results, "launch": launch, "launches": launches}
    return context | {"options": options}


def _rows(case: Case, given: dict[str, Any], right: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return what the templates ask of each parameter; `kind` is the dtype's name, or that of a struct's constant."""
    rows = []
    for parameter, (name, value) in zip(case.parameters, given.items(), strict=True):
        array = np.asarray(right[name] if value is None else value)
        row = {"name": name, "is_array": parameter.is_pointer, "dtype": array.dtype, "rank": array.ndim}
        row["kind"] = f"{name.upper()}_DTYPE" if array.dtype.fields else array.dtype.name
        row["role"] = "read" if name not in right else "written" if value is None else "read and written"
        rows.append(row | {"is_output": name in right, "constant": row["kind"] if array.dtype.fields else ""})
    return rows


def _check_derived(case: Case, values: dict[str, Any], size: int) -> None:
    """Compare what the case derives with its arguments and its launch of one size."""
    arrays = {key: value for key, value in values.items() if isinstance(value, np.ndarray)}
    seen: dict[str, Any] = {key: SimpleNamespace(shape=value.shape, size=value.size) for key, value in arrays.items()}
    numbers = {key: value.item() for key, value in values.items() if isinstance(value, np.generic)}
    seen |= {key: value for key, value in numbers.items() if key not in case.derived}
    for key, text in case.derived.items():
        told = f'{case.file.name}: derived = {{"{key}": "{text}"}}'
        if key not in values:
            raise CaseError(f"{told}: {key} is no argument, no grid, no block and not shared")
        wanted = values[key].shape if key in arrays else values[key]
        try:
            got = eval(text, {}, seen)
            extents = got if isinstance(got, tuple) else (got,)
            is_same = (*extents, 1, 1)[:3] == wanted if key in ("grid", "block") else got == wanted
        except Exception as error:
            raise CaseError(f"{told} at size {size}: {type(error).__name__}: {error}") from None
        if not is_same:
            hint = f'; a shape is a tuple: "({text},)"' if key in arrays and not isinstance(got, tuple) else ""
            raise CaseError(f"{told} is {got} at size {size}; there the case has {wanted}{hint}")
        seen.setdefault(key, got)
