"""Machines made of folders: toolkits with scripts for compilers and tiny libraries; and a pip without a network."""

import importlib
import json
import os
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from fourways import toolchain

PARTS = ("nvcc", "headers", "cccl")


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def header(path: Path, macro: str, number: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#define {macro} {number}\n")


def toolkit(root: Path, version: str = "13.0.88", parts: tuple[str, ...] = PARTS, below: str = "") -> Path:
    """A toolkit in `root`, or only `parts` of one; headers and libraries lie under `below` (conda's targets/...)."""
    major, minor = version.split(".")[:2]
    if "nvcc" in parts:
        nvcc = script(
            root / "bin" / "nvcc",
            f'case "$*" in *--dryrun*) echo "#\\$ TOP=$(dirname "$0")/.." >&2;;\n'
            f'*) echo "Cuda compilation tools, release {major}.{minor}, V{version}";; esac',
        )
        nvcc.with_name("nvcc.profile").write_text("TOP = $(_HERE_)/..\n")
    include = root / below / "include"
    if "headers" in parts:
        header(include / "cuda_runtime_api.h", "CUDART_VERSION", int(major) * 1000 + int(minor) * 10)
        for name in ("cuda_runtime.h", "vector_types.h", "cuda_fp16.h", "crt/host_defines.h", "crt/host_config.h"):
            header(include / name, "__host__", 1)
    if "cccl" in parts:
        header(include / "cccl" / "cub" / "version.cuh", "CUB_VERSION", 300001)
        header(include / "cccl" / "cuda" / "std" / "__cccl" / "version.h", "CCCL_VERSION", 3000001)
    root.mkdir(parents=True, exist_ok=True)
    return root


def library(path: Path, code: str) -> Path:
    """A shared library compiled from C."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", str(path)], input=code, text=True, check=True)
    return path


class Machine:
    """A machine without any CUDA, under `home`; its methods put things on it."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.patch = home, monkeypatch
        self.folders = {
            "wheels": home / "site-packages" / "nvidia" / "cu13",
            "conda": home / "conda",
            "CUDA_PATH": home / "cuda-path",
            "CUDA_HOME": home / "cuda-home",
            "system": home / "usr" / "local" / "cuda",
            "PATH": home / "elsewhere",
        }
        for name in ("CONDA_PREFIX", "CUDA_PATH", "CUDA_HOME", "CXX", "NVCC", "NVCC_CCBIN", "LIBRARY_PATH", "CUDACXX"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PATH", f"{home / 'bin'}:/usr/bin:/bin")
        monkeypatch.setattr(sys, "path", [str(home / "site-packages")])
        monkeypatch.setattr(sys, "meta_path", [PathFinder])  # not what an editable install adds
        for name in ("cupy", "pycuda", "fourways_aot", *toolchain.PACKAGES):
            monkeypatch.delitem(sys.modules, name, raising=False)  # an earlier test may have imported it
        monkeypatch.setattr("fourways.toolchain.find.SYSTEM_ROOT", self.folders["system"])
        self.has_driver(None)

    def has(self, origin: str, version: str = "13.0.88", parts: tuple[str, ...] = PARTS, below: str = "") -> Path:
        """A toolkit, or parts of one, in the place of this origin."""
        root = toolkit(self.folders[origin], version, parts, below)
        if origin in ("conda", "CUDA_PATH", "CUDA_HOME"):
            self.patch.setenv("CONDA_PREFIX" if origin == "conda" else origin, str(root))
        if origin == "PATH":
            self.patch.setenv("PATH", f"{root / 'bin'}:{os.environ['PATH']}")
        return root

    def has_driver(self, driver: toolchain.Driver | None, *gpus: toolchain.Gpu) -> None:
        """A driver that shows these GPUs, or none."""
        for name in ("fourways.toolchain.driver", "fourways.toolchain.missing"):  # toolchain.driver is the function
            module = importlib.import_module(name)
            self.patch.setattr(module, "driver", lambda: driver)
            self.patch.setattr(module, "gpus", lambda: list(gpus))


def hide_wheels(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This environment without NVIDIA's wheels: `folder` gets links to all its other packages."""
    folder.mkdir()
    places = [place for place in map(Path, sys.path) if (place / "nvidia").is_dir()]
    packages = {package.name: package for place in reversed(places) for package in place.iterdir()}
    for name in packages.keys() - {"nvidia"}:
        (folder / name).symlink_to(packages[name])
    kept = [place for place in sys.path if Path(place) not in places]
    monkeypatch.setattr(sys, "path", [*kept, str(folder)])


PIP = r"""
import json, os, re, subprocess, sys
from pathlib import Path

words = sys.argv[1:]
options = {name: Path(words[words.index(name) + 1]) for name in ("-r", "-d", "-w") if name in words}
asked = options["-r"].read_text() if "-r" in options else ""
with open(FOLDER / "calls", "a") as calls:
    calls.write(json.dumps({"words": words, "asked": asked, "PATH": os.environ["PATH"]}) + "\n")
if "download" in words:
    from packaging.requirements import Requirement

    for line in re.findall(r"^(\w.*?) \\$", asked, re.MULTILINE):
        wanted = Requirement(line)
        if not wanted.marker or wanted.marker.evaluate():
            version = str(wanted.specifier).removeprefix("==")
            (options["-d"] / f"{wanted.name.replace('-', '_')}-{version}-py3-none-any.whl").touch()
if "wheel" in words:
    (options["-w"] / "pycuda-2026.1-cp3-cp3-linux_x86_64.whl").touch()
"""


class Pip:
    """`python -m pip` runs a stand-in, then the code in `then`; `calls` tells with what, in order."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "pip").mkdir(parents=True)
        (folder / "pip" / "__init__.py").touch()
        (folder / "pip.dist-info").mkdir()
        (folder / "pip.dist-info" / "METADATA").write_text("Name: pip\nVersion: 26.0\n")
        self.then("")

    def then(self, code: str) -> None:
        code = PIP.replace("FOLDER", f"Path({str(self.folder)!r})") + code
        (self.folder / "pip" / "__main__.py").write_text(code)

    def calls(self) -> list[dict]:
        file = self.folder / "calls"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
