"""The binding on a CUDA runtime of host memory (tests/cpp/fake_cuda.cpp), and the arrays that it takes for a GPU's."""

import ctypes
import importlib.util
import subprocess
import sysconfig
from pathlib import Path
from types import ModuleType

import pybind11

from fourways import toolchain

CPP = Path(__file__).with_name("cpp")


def build(library: Path) -> None:
    """The module with doublify as it stands and with kinds.cpp, but fake_cuda.cpp for the CUDA runtime."""
    aot = CPP.parents[1] / "cpp" / "aot"
    folders = [aot, *toolchain.include_dirs(), pybind11.get_include(), sysconfig.get_path("include")]
    defined = ["FOURWAYS_BINDINGS=X(doublify) X(kinds)", 'FOURWAYS_VERSION="0"', 'FOURWAYS_BUILT_FOR="nothing"']
    sources = [*(aot / f"{name}.cpp" for name in ("module", "gpu_array", "doublify"))]
    sources += [CPP / "kinds.cpp", CPP / "fake_cuda.cpp"]
    subprocess.run(
        [str(toolchain.host_compiler()), "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", "-o", library]
        + [f"-I{folder}" for folder in folders]
        + [f"-D{definition}" for definition in defined]
        + ["-x", "c++", "-"],
        # as one unit: most of the time is pybind11's headers
        input="".join(f'#include "{source}"\n' for source in sources).encode(),
        check=True,
    )


class FakeCuda:
    """The binding and the runtime under it. Loaded from its own copy: nothing is left of the test before."""

    def __init__(self, library: Path) -> None:
        # pybind11 keeps one module for each full name, and a name with a package in front is another one
        spec = importlib.util.spec_from_file_location(f"{library.stem}.fourways_aot", library)
        assert spec and spec.loader
        self.binding: ModuleType = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.binding)
        self._runtime = ctypes.CDLL(str(library))
        self._runtime.fake_reset.argtypes = ctypes.c_int, ctypes.c_void_p
        self._runtime.fake_log.restype = ctypes.c_char_p
        self._runtime.shown.restype = ctypes.c_longlong
        self.set()

    def set(self, device: int = 0, host: int = 0) -> None:
        """Forget what was called."""
        self._runtime.fake_reset(device, ctypes.c_void_p(host))

    def doublify(self, *arguments: object, **named: object) -> list[str]:
        self.binding.doublify(*arguments, **named)
        return self.log()

    def shown(self, dtype: str, array: object) -> int:
        """The elements that a binding for arrays of `dtype` finds (kinds.cpp)."""
        assert getattr(self.binding, f"array_{dtype}")(array) is None
        return self._runtime.shown()

    def log(self) -> list[str]:
        return [line.strip() for line in self._runtime.fake_log().decode().splitlines()]
