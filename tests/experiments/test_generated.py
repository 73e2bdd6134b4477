"""Lesson 10's experiments as far as they need no GPU."""

import shutil
import subprocess
from pathlib import Path

import pytest

from fourways import host, kernels, toolchain
from fourways.experiments import generated

ps = pytest.importorskip("pystencils", reason=str(toolchain.missing("pystencils")))
sympy = pytest.importorskip("sympy")


def heat(u, v):
    above_below, left_right, total = sympy.symbols("above_below, left_right, total")
    return [
        ps.Assignment(above_below, u[-1, 0] + u[1, 0]),
        ps.Assignment(left_right, u[0, -1] + u[0, 1]),
        ps.Assignment(total, above_below + left_right),
        ps.Assignment(v.center(), total / 4),
    ]


@pytest.fixture
def on_gpu():
    u, v = ps.fields("u, v: float32[2D]")
    return ps.create_kernel(heat(u, v), target=ps.Target.CUDA, function_name="step")


@pytest.fixture
def step(on_gpu) -> host.HostKernel:
    return host.compile(generated.kernel_file(on_gpu)).get_function("step")


def test_a_compiler_with_another_name_becomes_g_plus_plus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiler = toolchain.host_compiler()
    monkeypatch.setattr(toolchain, "host_compiler", lambda: compiler)
    monkeypatch.setattr(kernels, "root", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    generated.compiler_on_path()
    assert Path(shutil.which("g++") or "").parent == tmp_path / "build" / "10_generated" / "bin"
    assert subprocess.run(["g++", "--version"], capture_output=True, check=True).stdout


def test_a_block_is_trimmed_and_fitted_to_the_plate(on_gpu, capsys: pytest.CaptureFixture[str]) -> None:
    wrapper = on_gpu.compile()
    generated.grids(wrapper, (50, 70))
    wrapper.launch_config.trim_block_size((128, 2, 1))
    generated.grids(wrapper, (50, 70))
    wrapper.launch_config.fit_block_size((128, 2, 1))
    generated.grids(wrapper, (50, 70))
    blocks = [line.partition("blocks of ")[2].partition(", a grid")[0] for line in capsys.readouterr().out.splitlines()]
    assert blocks == ["(16, 16, 1)", "(68, 2, 1)", "(96, 2, 1)"]


def test_instructions_are_counted_with_cupy_s_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    plain = 'extern "C" __global__ void one(float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }'
    arrays = (
        'extern "C" __global__ void one(CArray<float, 1, 1, 1> y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }'
    )
    generated.instructions({"plain": plain, "CuPy's": arrays, "file": kernels.path("stencil")})
    counts = [int(line.partition(": ")[2].split()[0]) for line in capsys.readouterr().out.splitlines()]
    assert len(counts) == 3 and 5 < counts[0] <= counts[1] < counts[2]
