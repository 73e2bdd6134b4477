"""The function of a case's package, built for this machine's GPU and kept: for its way "pybind11"."""

import fcntl
import hashlib
import importlib.util
import json
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pybind11

from fourways import building, files, toolchain
from fourways.kernels import KernelCase, safe_name
from fourways.package import probe
from fourways.package.context import context
from fourways.package.error import PackageError
from fourways.package.interface import tuple_text
from fourways.package.project import sources, taken_names

_IMPORTING = threading.Lock()


def kept_module(case: KernelCase) -> tuple[str, ModuleType]:
    """Return the name and the imported module of the case's package, built for this machine's GPU, or for sm_90.

    `files.cache_dir()` keeps the build. Raises PackageError in the compiler's words, OSError where nothing can be kept,
    and what the case raises.
    """
    package = _built(case)
    return package.name, _imported(package)


def kept_folder(case: KernelCase) -> Path:
    """The folder from which `kept_module` can be imported by its own name, built as that is."""
    return _built(case).parent


def cell(case: KernelCase, function: str) -> str:
    """The text that calls the case's package: it defines `function(size, *inputs, *outputs)`.

    For an output that the kernel also reads, the last array counts.
    """
    made = _context(case)
    name, size = made["name"], made["of"][case.size] if case.size else made["size"]
    before = [f"{each.name}_before" if each in made["outputs"] else each.name for each in made["inputs"]]
    taken = ", ".join([size.name, *before, *(each.name for each in made["outputs"])])
    given = [size.name if each is made["size"] else each.name for each in made["arguments"]]
    outs = [each.name for each in made["outs"]]
    given += [f"out={outs[0] if len(outs) == 1 else tuple_text(outs)}"] if outs else []
    return f"import {name}\n\n\ndef {function}({taken}):\n    {name}.{name}({', '.join(given)})\n"


def build_alone(case: KernelCase, folder: Path) -> float:
    """Build the package of a case from nothing, importable from `folder`, and return the seconds that it took.

    Raises PackageError in the compiler's words.
    """
    with tempfile.TemporaryDirectory(prefix="fourways-") as workshop:
        made = _context(case)
        texts = sources(made)
        start = time.perf_counter()
        built = _build(Path(workshop), texts, made["name"])
        seconds = time.perf_counter() - start
        shutil.copytree(built, folder, dirs_exist_ok=True)
    return seconds


def _context(case: KernelCase) -> dict[str, Any]:
    """The context of the case's package, which is called as the kernel is, or nearly so."""
    interface, name = probe.interface(case), safe_name(case.entry)
    name = f"{name}_package" if name in sys.stdlib_module_names else name
    return context(interface, safe_name(name, taken_names(interface)))


def _built(case: KernelCase) -> Path:
    """Return the folder of the case's package, which has its name, and build it unless an earlier build is there."""
    made = _context(case)
    texts, name = sources(made), made["name"]
    compiler = toolchain.nvcc()
    if compiler is None:
        raise PackageError(toolchain.NO_NVCC)
    versions = [toolchain.program_version(each) for each in (compiler, toolchain.host_compiler()) if each]
    tools = [sys.version, sys.prefix, pybind11.__version__, str(compiler), *versions, toolchain.gpu_arch()]
    kept = files.own_cache_dir(to_write=True) / "bindings" / _digest([texts, tools])
    if not kept.is_dir():
        common = {path: text for path, text in texts.items() if path.startswith("src/arrays/")}
        workshop = kept.with_name(f".{_digest([common, tools])}")
        workshop.mkdir(parents=True, exist_ok=True)
        with (workshop / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until the file is closed, or its process ends
            if not kept.is_dir():  # another process may have built it meanwhile
                _build(workshop, texts, name).rename(kept)
    return kept / name


def _digest(of: object) -> str:
    return hashlib.sha256(json.dumps(of).encode()).hexdigest()[:32]


def _build(workshop: Path, texts: dict[str, str], name: str) -> Path:
    """Build the package for this machine's GPU, or for sm_90, and return the folder from which it can be imported.

    The workshop keeps the object files that no kernel changes, above all those that include pybind11.
    """
    for old in workshop.glob("src/**/*"):
        if old.is_file() and str(old.relative_to(workshop)) not in texts:
            old.unlink()
    installed = workshop / "installed"
    shutil.rmtree(installed, ignore_errors=True)
    _write(workshop, texts)
    arch = toolchain.gpu_arch().removeprefix("sm_")
    _cmake(name, workshop, workshop / "build", [f"-DCMAKE_CUDA_ARCHITECTURES={arch}-real"])
    shutil.copytree(workshop / "src" / name, installed / name)
    (module,) = (workshop / "build").glob("_binding.*.so")
    shutil.copy(module, installed / name)
    return installed


def _write(folder: Path, texts: dict[str, str]) -> None:
    """Write the files that are not there or have another text."""
    for path, text in texts.items():
        file = folder / path
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def _cmake(name: str, source: Path, folder: Path, options: Sequence[str]) -> None:
    """Build the package whose sources lie in `source`. Raises PackageError in CMake's words."""
    try:
        building.build_with_cmake(source, folder, options, f"the binding of {name} cannot be built")
    except building.BuildError as error:
        raise PackageError(error.said) from None


def _imported(folder: Path) -> ModuleType:
    """The package in a folder, under a name of its own: others may be called as it is."""
    module, init = f"fourways_binding_{folder.parent.name}", folder / "__init__.py"
    with _IMPORTING:
        if module not in sys.modules:
            spec = importlib.util.spec_from_file_location(module, init, submodule_search_locations=[str(folder)])
            assert spec and spec.loader
            sys.modules[module] = importlib.util.module_from_spec(spec)
            try:
                spec.loader.exec_module(sys.modules[module])
            except ImportError as error:
                del sys.modules[module]
                raise PackageError(f"the binding of {folder.name} cannot be imported: {error}") from None
    return sys.modules[module]
