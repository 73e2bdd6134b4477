"""One launcher under several bindings: built, and collected as ways.

Building needs nvcc and a C++ compiler, but no GPU.
"""

import os
import re
import shutil
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from fourways import checking, kernels, lesson, toolchain
from fourways.experiments import tools
from fourways.tables import Row, Table, seconds
from fourways.ways import Ways

_FPIC = "-Xcompiler=-fPIC"  # position-independent code, as shared libraries need
_PYTHON = sysconfig.get_paths()["include"]
_SUFFIX = str(sysconfig.get_config_var("EXT_SUFFIX"))


class Workbench:
    """An empty folder below build/, from which Python can import, and the compilers' command lines.

    `built` holds the seconds of each build, and `files` its file, by the name of the module.
    """

    def __init__(self, name: str) -> None:
        self.folder = kernels.root() / "build" / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        sys.path.insert(0, str(self.folder))
        self.built: dict[str, float] = {}
        self.files: dict[str, Path] = {}
        self._launcher_seconds = 0.0

    def run(self, *command: object) -> float:
        """Run a command in the folder, and return its seconds. Raises RuntimeError with its output if it fails."""
        start = time.perf_counter()
        tools.output(*command, folder=self.folder)
        return time.perf_counter() - start

    def launcher(self, text: str) -> None:
        """Compile the text launcher.cu to launcher.o for this machine's GPU (sm_90 without one); print the seconds."""
        (self.folder / "launcher.cu").write_text(text)
        arch = toolchain.gpu_arch()
        kernel_folder = f"-I{kernels.path('doublify').parent}"
        self._launcher_seconds = self.run(toolchain.nvcc(), "-c", f"-arch={arch}", _FPIC, kernel_folder, "launcher.cu")
        print(f"launcher.o: {seconds(self._launcher_seconds)}")

    def link(self, module: str, file: str, units: Iterable[object], words: Iterable[object] = ()) -> None:
        """Compile `units`, and link them with launcher.o and the CUDA runtime into `file`; print the seconds."""
        shared = (toolchain.nvcc(), "-shared", "-O2", "-std=c++17", _FPIC)
        took = self.run(*shared, *units, "launcher.o", *words, "-o", file)  # the linker reads from left to right
        self.built[module], self.files[module] = self._launcher_seconds + took, self.folder / file
        print(f"{file}: {seconds(took)}")

    def nanobind(self, module: str, text: str) -> None:
        """Build a nanobind module of a C++ text, for the stable ABI from Python 3.12 on; print the seconds."""
        import nanobind

        (self.folder / f"{module}.cpp").write_text(text)
        home, stable = Path(nanobind.include_dir()).parent, sys.version_info >= (3, 12)
        words = ["--threads=2", "-DNDEBUG", "-Xcompiler=-fvisibility=hidden,-fno-strict-aliasing"]
        words += ["-DPy_LIMITED_API=0x030C0000"] if stable else []
        words += [f"-I{path}" for path in (home / "include", home / "ext/robin_map/include", _PYTHON)]
        file = module + (".abi3.so" if stable else _SUFFIX)
        self.link(module, file, (home / "src/nb_combined.cpp", f"{module}.cpp"), words)

    def tvm_ffi(self, module: str, text: str) -> None:
        """Build a library of a C++ text that exports its functions by tvm-ffi; print the seconds."""
        (self.folder / f"{module}.cpp").write_text(text)
        home = Path(str(toolchain.installed("tvm_ffi"))).parent
        words = (f"-I{home / 'include'}", f"-L{home / 'lib'}", "-ltvm_ffi")
        self.link(module, f"{module}.so", (f"{module}.cpp",), words)

    def cython(self, module: str, text: str) -> None:
        """Translate a Cython text to C++, and build it as a module of this version of Python; print the seconds."""
        (self.folder / f"{module}.pyx").write_text(text)
        translated = self.run(sys.executable, "-m", "cython", "-3", "--cplus", f"{module}.pyx")
        print(f"{module}.cpp: {seconds(translated)}")
        self.link(module, module + _SUFFIX, (f"{module}.cpp",), (f"-I{_PYTHON}",))
        self.built[module] += translated

    def operator(self, module: str, text: str) -> None:
        """Build a library of PyTorch operators, for the stable ABI from PyTorch 2.10 on; print the seconds."""
        from torch.utils import cpp_extension

        (self.folder / f"{module}.cpp").write_text(text)
        words = ["-DUSE_CUDA", "-DTORCH_TARGET_VERSION=0x020a000000000000"]
        words += [f"-I{path}" for path in cpp_extension.include_paths()]
        words += [f"-L{path}" for path in cpp_extension.library_paths()]
        # a C++ library in the module must not share its tables with PyTorch's (issue 109923 of PyTorch)
        words += ["-ltorch_cpu", "-ltorch_cuda", "-Xlinker=--exclude-libs=ALL"]
        self.link(module, f"{module}.so", (f"{module}.cpp",), words)

    def ready_for_load_inline(self) -> None:
        """Let PyTorch find ninja, the C++ compiler, and in this folder a libcudart.so, which CUDA's wheels lack."""
        os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        os.environ.setdefault("CXX", str(toolchain.host_compiler()))
        runtime = toolchain.in_roots("lib64/libcudart.so*", "lib/libcudart.so*")[0]
        (self.folder / "libcudart.so").symlink_to(runtime)
        (self.folder / "inline").mkdir()

    def table(self) -> Table:
        """Show the built libraries: their size, and how many names of Python's C API they ask for.

        The first row is the launcher with CUDA's runtime alone.
        """
        self.run(toolchain.nvcc(), "-shared", "launcher.o", "-o", "launcher.so")
        rows: list[Row] = []
        for file in (self.folder / "launcher.so", *self.files.values()):
            names = toolchain.run("nm", "-D", "--undefined-only", str(file)).stdout
            python = len(re.findall(r" U _?Py", names))
            rows.append({"file": file.name, "bytes": file.stat().st_size, "python_names": python})
        size = ("kB", lambda row: f"{row['bytes'] / 1e3:,.0f}")
        return Table("files", rows, ["file", size, ("names of Python", lambda row: str(row["python_names"]))])


def collect(namespace: Mapping[str, Any]) -> Ways:
    """Return all functions `doublify_…` of a notebook as ways: those of `lesson.collect`, and the others behind them.

    The others are checked here. One that fails is under `missing`, with the reason. Functions of ways with `torch` in
    their names get PyTorch's tensors instead of CuPy's arrays.
    """
    ways = lesson.collect(namespace)
    for name, function in list(namespace.items()):
        way = name.removeprefix("doublify_")
        if way == name or way in ways.functions:
            continue
        ways.functions[way] = _on_tensors(function) if "torch" in way else function
        try:
            checking.check(ways.only([way]))
        except checking.CheckFailure as failure:
            ways.missing[way] = str(failure)
    return ways


def _on_tensors(function: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    from torch import from_dlpack

    return lambda x, y: function(from_dlpack(x), from_dlpack(y))
