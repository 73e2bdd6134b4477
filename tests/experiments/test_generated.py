"""Lesson 10's experiments as far as they need no GPU."""

import shutil
import subprocess
from pathlib import Path

import pytest

from fourways import kernels, toolchain
from fourways.experiments import generated


def test_a_compiler_with_another_name_becomes_g_plus_plus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiler = toolchain.host_compiler()
    monkeypatch.setattr(toolchain, "host_compiler", lambda: compiler)
    monkeypatch.setattr(kernels, "root", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    generated.compiler_on_path()
    assert Path(shutil.which("g++") or "").parent == tmp_path / "build" / "10_generated" / "bin"
    assert subprocess.run(["g++", "--version"], capture_output=True, check=True).stdout


def test_instructions_are_counted_with_cupy_s_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    plain = 'extern "C" __global__ void one(float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }'
    arrays = (
        'extern "C" __global__ void one(CArray<float, 1, 1, 1> y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }'
    )
    generated.instructions({"plain": plain, "CuPy's": arrays, "file": kernels.path("stencil")})
    counts = [int(line.partition(": ")[2].split()[0]) for line in capsys.readouterr().out.splitlines()]
    assert len(counts) == 3 and 5 < counts[0] <= counts[1] < counts[2]
