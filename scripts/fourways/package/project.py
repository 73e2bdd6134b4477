"""All files of a package by their paths, and the package written to a folder, whole or not at all."""

import json
import keyword
import re
import sys
import tempfile
from pathlib import Path

from fourways import kernels
from fourways.package import manifest
from fourways.package.carried import check_copy, compiler_options, defined, kernel_files, summary
from fourways.package.case import Case, PackageError
from fourways.package.cpp_text import binding
from fourways.package.fill import fill
from fourways.package.interface import Interface
from fourways.package.naming import free, in_python
from fourways.package.probe import interface
from fourways.package.python_text import init, named, stub
from fourways.package.readme_text import readme
from fourways.package.tests_text import tests

_TAKEN = {"case", "cuda", "cupy", "fourways", "numba", "numpy", "nvidia", "pip", "pybind11", "pytest", "torch"}
_EXTRAS = {"cccl": "<(cuda|cub|thrust|nv)/", "curand": "<curand"}


def check_name(name: str) -> str:
    """`name`, if a package can have it. Raises ValueError for no identifier, and for a module that it would hide."""
    if not re.fullmatch("[A-Za-z](\\w*[A-Za-z0-9])?", name, re.ASCII) or keyword.iskeyword(name):
        raise ValueError(
            f"{name!r} cannot be imported: take letters, digits and _, a letter first, no _ last, no keyword"
        )
    if name in sys.stdlib_module_names or name in _TAKEN:
        raise ValueError(f"{name!r} would hide the module {name}: take another name")
    return name


def free_name(face: Interface, name: str) -> str:
    """`name`, or where the package's files use it for something else, one like it."""
    return free([name], lambda stand_ins: _inside(face, stand_ins[name]))[name]


def _inside(face: Interface, name: str, with_tests: bool = False) -> set[str]:
    """The names that the files of a package `name` use, and those of the folders beside its own."""
    named_face = named(face, name)
    texts = [init(named_face, name)]
    if with_tests:
        texts.append(tests(named_face, name))
    return {"arrays", "kernel"}.union(*map(in_python, texts))


def sources(face: Interface, name: str) -> dict[str, str]:
    """The texts from which the module is built and imported, by path. `face` is `named`."""
    root, carried = kernels.root(), kernel_files(face.case)
    texts = {"CMakeLists.txt": _cmake(face.case, name, has_headers=len(carried) > 1)}
    texts |= {f"src/{path}": text for path, text in binding(face, name).items()}
    texts |= {f"src/kernel/{path}": text for path, text in carried.items()}
    for file in ("aot/gpu_array.hpp", "aot/gpu_array.cpp", "package/launch_arguments.hpp"):
        texts[f"src/arrays/{Path(file).name}"] = (root / "cpp" / file).read_text(encoding="utf-8")
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


def write(case: Case, name: str, folder: Path, force: bool = False) -> tuple[Interface, list[str]]:
    """Write a package to `folder`, whole or not at all; return what its function asks for, and which files were kept.

    The folder is new, empty, or of a package `name` that this function wrote. There it writes its files anew, but those
    that somebody has edited, unless `force` says so. Raises ValueError for a name or a folder that cannot be,
    PackageError for a case that lacks what is needed, and what the case raises.
    """
    folder = check_folder(folder, name)
    check_name(name)
    defined(case)
    face = interface(case)
    if name in _inside(face, "fourways_package", with_tests=True):
        raise ValueError(f"{name!r} has a meaning inside the package: take another name")
    face = named(face, name)
    texts = _project(face, name)
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as made:
            whole = Path(made, folder.name)
            for path, text in texts.items():
                (whole / path).parent.mkdir(parents=True, exist_ok=True)
                (whole / path).write_text(text, encoding="utf-8")
            size, inputs = int(face.values[face.size_name]), [face.values[each] for each in case.names]
            check_copy(case, whole / "tests/case.py", size, inputs)
            return face, manifest.place(whole, folder, name, Path(made, "before"), force)
    except OSError as error:
        raise PackageError(f"{folder} cannot be written ({error.strerror}): name another folder") from None


def check_folder(folder: Path, name: str) -> Path:
    """`folder`, absolute, if a package `name` can be written there, else ValueError.

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
        tempfile.TemporaryFile(dir=folder.parent).close()  # what even root may not do shows by trying alone
    except OSError as error:
        raise ValueError(f"nothing can be written in {folder.parent} ({error.strerror}): name another folder") from None
    return folder
