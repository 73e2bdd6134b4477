"""All files of a package by their paths, and the package written to a folder, whole or not at all."""

import builtins
import json
import keyword
import re
import sys
import tempfile
from pathlib import Path

from fourways import kernels
from fourways.package.carried import check_copy, compiler_options, defined, kernel_files, summary, with_headers
from fourways.package.case import Case, PackageError
from fourways.package.cpp_text import binding
from fourways.package.fill import fill
from fourways.package.interface import Interface
from fourways.package.probe import interface
from fourways.package.python_text import init, stub
from fourways.package.readme_text import readme
from fourways.package.tests_text import tests

_TAKEN = {"case", "cuda", "cupy", "fourways", "numba", "numpy", "nvidia", "pip", "pybind11", "pytest", "torch"}
_INSIDE = {"Any", "Array", "TypeVar", "arrays", "kernel", "launch", "math", "np", "sys"} | {*dir(builtins)}
_EXTRAS = {"cccl": "<(cuda|cub|thrust|nv)/", "curand": "<curand"}


def check_name(name: str) -> str:
    """`name`, if a package can have it. Raises ValueError for no identifier, and for a module that it would hide."""
    if not re.fullmatch("[A-Za-z](\\w*[A-Za-z0-9])?", name, re.ASCII) or keyword.iskeyword(name):
        raise ValueError(
            f"{name!r} cannot be imported: take letters, digits and _, a letter first, no _ last, no keyword"
        )
    if name in sys.stdlib_module_names or name in _TAKEN:
        raise ValueError(f"{name!r} would hide the module {name}: take another name")
    if name in _INSIDE:
        raise ValueError(f"{name!r} has a meaning inside the package: take another name")
    return name


def free_name(name: str) -> str:
    """`name`, or where no package can have it one like it."""
    return name + "_" * (keyword.iskeyword(name) or name in _INSIDE)


def sources(face: Interface, name: str) -> dict[str, str]:
    """The texts from which the module is built and imported, by path."""
    root, carried = kernels.root(), kernel_files(face.case)
    texts = {"CMakeLists.txt": _cmake(face.case, name, has_headers=len(carried) > 1)}
    texts |= {f"src/{name}.cu": binding(face, name), "src/module.cpp": fill("module.cpp")}
    texts |= {f"src/kernel/{path}": text for path, text in carried.items()}
    texts |= {f"src/arrays/{path}": text for path, text in with_headers(root / "cpp/aot/device_array.cpp").items()}
    texts["src/glibc/bits/mathcalls.h"] = (root / "cpp/glibc/bits/mathcalls.h").read_text(encoding="utf-8")
    texts["src/arrays/LICENSE"] = (root / "LICENSE").read_text(encoding="utf-8")
    texts |= {f"src/{name}/__init__.py": init(face, name), f"src/{name}/_binding.pyi": stub(face, name)}
    if face.launch_text:
        texts[f"src/{name}/_launch.py"] = f'"""Grid, block and shared memory of a launch."""\n\n{face.launch_text}'
    return texts | {f"src/{name}/py.typed": ""}


def _cmake(case: Case, name: str, has_headers: bool) -> str:
    options, standard = compiler_options(case)
    lines = []
    if options:
        escaped = [re.sub(r'(["\\;])', r"\\\1", option) for option in options]
        only_nvcc = f"$<$<COMPILE_LANGUAGE:CUDA>:{';'.join(escaped)}>"
        lines.append(f'target_compile_options(_binding PRIVATE "{only_nvcc}") # the case\'s\n')
    if has_headers:
        lines.append("target_include_directories(_binding PRIVATE src/kernel) # the kernel's own headers\n")
    return fill("CMakeLists.txt", name=name, standard=standard, options="".join(lines))


def _project(face: Interface, name: str) -> dict[str, str]:
    """The texts of all files by path."""
    case = face.case
    assert case.file
    texts = sources(face, name)
    kernel = "".join(text for path, text in texts.items() if path.startswith("src/kernel/"))
    extras = [extra for extra, pattern in _EXTRAS.items() if re.search(f"#\\s*include\\s*{pattern}", kernel)]
    texts["pyproject.toml"] = fill(
        "pyproject.toml",
        name=name,
        summary=json.dumps(summary(case), ensure_ascii=False)[1:-1],
        extras=",".join(["nvcc", "cudart", *extras]),
        dependencies='"numpy>=2"' * ("import numpy" in texts[f"src/{name}/__init__.py"] + face.launch_text),
    )
    texts["tests/case.py"] = case.file.read_text(encoding="utf-8")
    texts[f"tests/test_{name}.py"] = tests(face, name)
    texts["README.md"] = readme(face, name)
    return texts


def write(case: Case, name: str, folder: Path) -> Interface:
    """Write a package to `folder`, new or empty, whole or not at all; return what its function asks for.

    Raises ValueError for a name or a folder that cannot be, PackageError for a case that lacks what is needed, and what
    the case raises.
    """
    folder = check_folder(folder)
    check_name(name)
    defined(case)
    face = interface(case)
    if name in face.names.values():
        raise PackageError(f"{name!r} is a parameter of the kernel: take another name")
    texts = _project(face, name)
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as made:
            whole = Path(made, folder.name)
            for path, text in texts.items():
                (whole / path).parent.mkdir(parents=True, exist_ok=True)
                (whole / path).write_text(text, encoding="utf-8")
            size, inputs = int(face.values[face.size_name]), [face.values[each] for each in case.names]
            check_copy(case, whole / "tests/case.py", size, inputs)
            whole.replace(folder)  # onto nothing, or onto an empty folder
    except OSError as error:
        raise PackageError(f"{folder} cannot be written ({error.strerror}): name another folder") from None
    return face


def check_folder(folder: Path) -> Path:
    """`folder`, absolute, if it is new or empty and can be written; else ValueError."""
    folder = folder.absolute()
    if not folder.parent.is_dir():
        raise ValueError(f"there is no folder {folder.parent}: make it first, or name another than {folder.name}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "is not empty" if folder.is_dir() else "is a file"
        raise ValueError(f"{folder} {what}: name a new folder")
    try:
        tempfile.TemporaryFile(dir=folder.parent).close()  # what even root may not do shows by trying alone
    except OSError as error:
        raise ValueError(f"nothing can be written in {folder.parent} ({error.strerror}): name another folder") from None
    return folder
