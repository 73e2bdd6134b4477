"""All files of a package by their paths, and the package written to a folder, whole or not at all."""

import keyword
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from fourways import kernels
from fourways.kernels import KernelCase
from fourways.package import manifest, probe
from fourways.package.carried import check_copy
from fourways.package.context import constants, context
from fourways.package.environment import IN_FUNCTION, IN_MODULES, IN_TESTS, render
from fourways.package.error import PackageError
from fourways.package.interface import Interface

_TAKEN = {"case", "cuda", "cupy", "fourways", "numba", "numpy", "nvidia", "pip", "pybind11", "pytest", "torch"}


def check_name(name: str) -> str:
    """Return `name`. Raises ValueError for a name that is no identifier, or that would hide a module."""
    if not re.fullmatch("[A-Za-z](\\w*[A-Za-z0-9])?", name, re.ASCII) or keyword.iskeyword(name):
        raise ValueError(
            f"{name!r} cannot be imported: take letters, digits and _, a letter first, no _ last, no keyword"
        )
    if name in sys.stdlib_module_names or name in _TAKEN:
        raise ValueError(f"{name!r} would hide the module {name}: take another name")
    return name


def taken_names(interface: Interface) -> set[str]:
    """The names that the package cannot have: they mean something in its files."""
    return {*IN_FUNCTION, *IN_TESTS, *IN_MODULES, *interface.parameters, *constants(interface).values()}


def sources(context: dict[str, Any]) -> dict[str, str]:
    """The texts from which the module is built and imported, by path."""
    root, name = kernels.root(), context["name"]
    texts = {"CMakeLists.txt": render("CMakeLists.txt", context)}
    texts |= {f"src/{name}.{ending}": render(f"NAME.{ending}", context) for ending in ("cpp", "cu")}
    texts |= {f"src/kernel/{path}": text for path, text in context["kernel_files"].items()}
    for file in ("aot/gpu_array.hpp", "aot/gpu_array.cpp", "package/launch_arguments.hpp"):
        texts[f"src/arrays/{Path(file).name}"] = (root / "cpp" / file).read_text(encoding="utf-8")
    texts["src/glibc/bits/mathcalls.h"] = (root / "cpp/glibc/bits/mathcalls.h").read_text(encoding="utf-8")
    texts["src/arrays/LICENSE"] = (root / "LICENSE").read_text(encoding="utf-8")
    launch = ["_launch.py"] if context["case"].has_launch else []
    texts |= {f"src/{name}/{file}": render(file, context) for file in ("__init__.py", "_binding.pyi", *launch)}
    return texts | {f"src/{name}/py.typed": ""}


def _project(context: dict[str, Any]) -> dict[str, str]:
    """The texts of all files by path."""
    texts = sources(context) | {file: render(file, context) for file in ("pyproject.toml", "README.md")}
    texts["tests/case.py"] = context["case"].file.read_text(encoding="utf-8")
    texts[f"tests/test_{context['name']}.py"] = render("test_NAME.py", context)
    return texts


def write(case: KernelCase, name: str, folder: Path, force: bool = False) -> tuple[Interface, list[str]]:
    """Write a package to `folder`, whole or not at all; return what its function asks for, and which files were kept.

    The folder is new, empty, or of a package `name` that this function wrote. There it writes its files anew, but those
    that somebody has edited, unless `force` says so. Raises ValueError for a name or a folder that cannot be,
    PackageError for a case that lacks what is needed, and what the case raises.
    """
    folder = check_folder(folder, name)
    check_name(name)
    if not case.file:
        hint = f"`fourways case {case.path.name}` writes one to begin with"
        raise PackageError(f"a package is made of a kernel and a case, --case my_case.py; {hint}")
    if not case.has_reference:
        raise PackageError(f"{case.file.name} defines no reference(*inputs), which the package's tests need")
    interface = probe.interface(case)
    if name in taken_names(interface):
        raise ValueError(f"{name!r} has a meaning inside the package: take another name")
    texts = _project(context(interface, name))
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as made:
            whole = Path(made, folder.name)
            for path, text in texts.items():
                (whole / path).parent.mkdir(parents=True, exist_ok=True)
                (whole / path).write_text(text, encoding="utf-8")
            size, inputs = int(interface.values[interface.size_name]), [interface.values[each] for each in case.names]
            check_copy(case, whole / "tests/case.py", size, inputs)
            return interface, manifest.place(whole, folder, name, Path(made, "before"), force)
    except OSError as error:
        raise PackageError(f"{folder} cannot be written ({error.strerror}): name another folder") from None


def check_folder(folder: Path, name: str) -> Path:
    """Return `folder`, absolute, if a package `name` can be written there, else raise ValueError.

    It is new, empty, or holds a package of that name that `write` wrote.
    """
    folder = folder.absolute()
    if not folder.parent.is_dir():
        raise ValueError(f"there is no folder {folder.parent}: make it first, or name another than {folder.name}")
    if folder.is_dir() and any(folder.iterdir()):
        if not (there := manifest.read(folder)):
            raise ValueError(f"{folder} is not empty: name a new folder, or one that `fourways package` wrote")
        if there.name != name:
            raise ValueError(f"{folder} holds the package {there.name}, not {name}: name a new folder")
    elif folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: name a new folder")
    try:
        tempfile.TemporaryFile(dir=folder.parent).close()  # os.access grants root everything
    except OSError as error:
        raise ValueError(f"nothing can be written in {folder.parent} ({error.strerror}): name another folder") from None
    return folder
