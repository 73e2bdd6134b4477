"""nvcc beside a glibc that declares rsqrt with noexcept: 2.42 and newer, or this one with a header of such a one."""

import os
import platform
import subprocess
from pathlib import Path

import pytest

from fourways import toolchain

NEWER = Path(__file__).with_name("newer_mathcalls.h").read_text(encoding="utf-8")
KERNEL = "#include <cmath>\n__global__ void root(double *x) { *x = rsqrt(*x) + std::sqrt(*x); }\n"


@pytest.mark.parametrize("version", ["2.36", "2.43"])
def test_nvcc_takes_the_math_header_of_a_newer_glibc(
    root: Path, tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = toolchain.nvcc() or pytest.skip("no nvcc here")
    if version == "2.36" and toolchain.version(platform.libc_ver()[1]) >= toolchain.version("2.42"):
        pytest.skip("this machine's own glibc is newer")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", version))
    (tmp_path / "bits").mkdir()
    (tmp_path / "bits" / "mathcalls.h").write_text(NEWER)
    (tmp_path / "root.cu").write_text(KERNEL)
    monkeypatch.setenv("CPLUS_INCLUDE_PATH", str(tmp_path))
    environment = os.environ | toolchain.variables()
    command = [str(nvcc), "-arch=sm_90", "-c", "root.cu", "-o", "root.o"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    if version == "2.36":
        assert done.returncode != 0 and '"rsqrt"' in done.stderr, "else the header is needed no more"
        assert environment["CPLUS_INCLUDE_PATH"] == str(tmp_path)
    else:
        assert done.returncode == 0, done.stderr
        assert environment["CPLUS_INCLUDE_PATH"] == f"{root / 'cpp' / 'glibc'}:{tmp_path}"
