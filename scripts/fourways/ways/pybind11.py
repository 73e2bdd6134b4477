"""A module that pybind11 binds and CMake builds ahead of time, for the lessons' kernels or for the user's own."""

import hashlib
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from fourways.kernels import KernelCase
from fourways.ways.way import Way, function_name, register

_IMPORTING = threading.Lock()


class Pybind11(Way):
    """The module `fourways_aot`; for a kernel of the user's own, the package that `fourways package` writes."""

    name = "pybind11"
    label = "pybind11, ahead of time"
    short = "pybind11"
    colour = "#007F5C"
    dark_colour = "#35C79B"
    needs = ("gpu", "cupy", "fourways_aot")
    case_needs = ("gpu", "cupy", "nvcc", "host compiler")
    is_shipped_built = True
    takes_templates = True
    import_stage = "load"  # an extension module is machine code

    def cell(self, case: KernelCase) -> str:
        from fourways import package

        return package.cell(case, function_name(case, self))

    def function(self, case: KernelCase) -> Callable[..., None]:
        """Return the cell's function. Builds the package for this machine's GPU, or for sm_90, unless it is built."""
        from fourways import package

        name, module = package.kept_module(case)
        with _IMPORTING:  # two threads may want modules of one name
            hidden = sys.modules.get(name)
            sys.modules[name] = module  # the cell's `import` finds it; others may be called as it is
            try:
                return self.executed(case, {})
            finally:
                if hidden is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = hidden

    def build_ahead(self, kernel: KernelCase | str, folder: Path) -> float | None:
        from fourways import building, package

        if isinstance(kernel, str):
            return building.build_binding(kernel, folder)
        return package.build_alone(kernel, folder)

    def prepare(self, kernel: KernelCase | str) -> Path | None:
        from fourways import building, files, kernels, package

        if not isinstance(kernel, str):
            return package.kept_folder(kernel)
        digest = hashlib.sha256(f"{kernels.root()} {sys.executable}".encode()).hexdigest()[:12]
        folder = files.cache_dir() / "lineinfo" / f"{kernel}-{digest}"
        building.build_binding(kernel, folder, options=["-DCMAKE_CUDA_FLAGS=-lineinfo"])
        return folder


register(Pybind11())
