"""The tools of a machine on which nothing is wrong."""

from pathlib import Path

import layouts
import pytest

from fourways import toolchain
from fourways.doctor.inventory import Tool


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Tool]:
    """A sound machine's tools; tests spoil one of them. Its toolkit is CUDA_PATH's, its PyCUDA a stand-in.

    It lacks none of what some lessons use.
    """
    toolkit, pycuda = tmp_path / "toolkit", tmp_path / "packages" / "pycuda"
    layouts.toolkit(toolkit, parts=("headers",))
    pycuda.mkdir(parents=True)
    (pycuda / "__init__.py").touch()
    (pycuda / "driver.py").write_text("def get_version(): return (13, 0, 0)")
    monkeypatch.setenv("CUDA_PATH", str(toolkit))
    monkeypatch.setenv("PYTHONPATH", str(pycuda.parent))
    for variable, _ in toolchain.caches().values():
        monkeypatch.setenv(variable, str(tmp_path / "caches" / variable))
    for variable in ("NVCC", "PYCUDA_DISABLE_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    really = toolchain.missing
    monkeypatch.setattr(toolchain, "missing", lambda need: None if need in toolchain.PACKAGES else really(need))
    gxx = layouts.script(tmp_path / "g++", "exit 0")
    found = [Tool(name, toolkit / "bin" / name, "13.0.88") for name in ("nvcc", "cuobjdump", "nvdisasm")]
    found += [Tool(name, tmp_path / name, "4.0") for name in ("cmake", "ninja", "PyCUDA", "fourways_aot")]
    found += [
        Tool("NVRTC", toolkit / "lib" / "libnvrtc.so.13", "13.0"),
        Tool("nvJitLink", toolkit / "lib" / "libnvJitLink.so.13", "13.0"),
        Tool("CUDA headers", toolkit / "include", "13.0"),
        Tool("host compiler", gxx, "12.2.0"),
    ]
    return {tool.name: tool for tool in found}
