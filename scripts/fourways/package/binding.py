"""The function of a case's package, built for this machine's GPU and kept: its way "pybind11"."""

import fcntl
import hashlib
import importlib.util
import json
import keyword
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pybind11

from fourways import files, toolchain
from fourways.package.case import Case, PackageError
from fourways.package.probe import interface
from fourways.package.project import sources

_IMPORTING = threading.Lock()


def binding(case: Case) -> Callable[..., None]:
    """The kernel as a function of `(size, *inputs, *outputs)`, as its package checks and launches it.

    Of an output that is read, too, the last array counts. Built for this machine's GPU, or for sm_90, and kept in
    `files.cache_dir()`. Raises PackageError in the compiler's words, and what the case raises.
    """
    face = interface(case)
    name = re.sub(r"\W+", "_", case.entry).strip("_")
    name += "_" * keyword.iskeyword(name)
    function = getattr(_imported(_built(sources(face, name), name), name), name)
    order = [face.size_name, *case.names, *case.outputs]
    place = {each: number for number, each in enumerate(order)}  # the later one where a name stands there twice
    given = [place[each] for each in (*face.arguments, *[face.size_name] * face.asks_size)]
    outs = [place[each] for each in face.allocated]

    def call(*arguments: Any) -> None:
        out = {"out": arguments[outs[0]] if len(outs) == 1 else tuple(arguments[each] for each in outs)} if outs else {}
        function(*(arguments[each] for each in given), **out)

    return call


def _built(texts: dict[str, str], name: str) -> Path:
    """The folder of the package, built or found as it was built before."""
    compiler = toolchain.nvcc()
    if compiler is None:
        raise PackageError(f"no nvcc found: {toolchain.SETUP}")
    arch = next((gpu.arch.removeprefix("sm_") for gpu in toolchain.gpus()), "90")
    versions = [toolchain.program_version(each) for each in (compiler, toolchain.host_compiler()) if each]
    tools = [sys.version, sys.prefix, pybind11.__version__, str(compiler), *versions]
    kept = files.cache_dir() / "bindings" / _digest([texts, tools, arch])
    if not kept.is_dir():
        common = {path: text for path, text in texts.items() if path.startswith("src/arrays/")}
        workshop = kept.with_name(f".{_digest([common, tools])}")
        workshop.mkdir(parents=True, exist_ok=True)
        with (workshop / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until the file is closed, or its process ends
            if not kept.is_dir():  # else another process has built it meanwhile
                _build(workshop, texts, name, arch).rename(kept)
    return kept / name


def _digest(of: object) -> str:
    return hashlib.sha256(json.dumps(of).encode()).hexdigest()[:32]


def _build(workshop: Path, texts: dict[str, str], name: str, arch: str) -> Path:
    """The folder that holds the package, importable.

    What no kernel changes, above all what includes pybind11, stays compiled in the workshop.
    """
    for old in workshop.glob("src/**/*"):
        if old.is_file() and str(old.relative_to(workshop)) not in texts:
            old.unlink()
    installed = workshop / "installed"
    shutil.rmtree(installed, ignore_errors=True)
    for path, text in texts.items():
        file = workshop / path
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    configure = f"-G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES={arch}-real".split()
    configure += [f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]
    build, environment = str(workshop / "build"), os.environ | toolchain.variables()
    scripts = sysconfig.get_path("scripts")  # the wheels' cmake and ninja
    environment["PATH"] = f"{scripts}{os.pathsep}{environment['PATH']}"
    for words in (
        ["-S", str(workshop), "-B", build, *configure],
        ["--build", build],
        ["--install", build, "--prefix", str(installed)],
    ):
        done = subprocess.run(["cmake", *words], env=environment, capture_output=True, text=True, errors="replace")
        if done.returncode:
            if words[0] == "-S":  # what CMake has found out may be wrong: the next one asks anew
                shutil.rmtree(build, ignore_errors=True)
            said = done.stdout + done.stderr
            failed = re.search("^(CMake Error|FAILED)", said, re.MULTILINE)  # before it stands what went well
            raise PackageError(f"the binding of {name} cannot be built:\n{said[failed.start() if failed else 0 :]}")
    shutil.copytree(workshop / "src" / name, installed / name, dirs_exist_ok=True)
    return installed


def _imported(folder: Path, name: str) -> ModuleType:
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
                raise PackageError(f"the binding of {name} cannot be imported: {error}") from None
    return sys.modules[module]
