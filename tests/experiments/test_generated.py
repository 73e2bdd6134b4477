"""Lesson 10's experiments as far as they need no GPU, and the judges of its exercises."""

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fourways import host, kernels, measuring, toolchain
from fourways.experiments import generated
from fourways.experiments.generated import by_hand
from fourways.tables import Table, summary

ps = pytest.importorskip("pystencils", reason=str(toolchain.missing("pystencils")))
sympy = pytest.importorskip("sympy")


def reference(u: np.ndarray) -> np.ndarray:
    v, quarter = u.copy(), np.float32(0.25)
    v[1:-1, 1:-1] = quarter * ((u[:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, :-2] + u[1:-1, 2:]))
    return v


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


def test_a_kept_launch_ignores_a_new_block(on_gpu, capsys: pytest.CaptureFixture[str]) -> None:
    """What the lesson shows on a GPU follows from the wrapper's own cache, which needs none."""
    wrapper, u, v = on_gpu.compile(), *np.zeros((2, 50, 70), np.float32)
    for _ in range(2):
        _, launch = wrapper._get_cached_args(u=u, v=v)
        wrapper.launch_config.trim_block_size((128, 2, 1))
    assert launch.block == (16, 16, 1)
    generated.kept_launches(wrapper)
    assert capsys.readouterr().out == "LaunchGrid(grid=(5, 3, 1), block=(16, 16, 1))\n"


def test_instructions_are_counted_with_cupy_s_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    plain = 'extern "C" __global__ void one(float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }'
    arrays = (
        'extern "C" __global__ void one(CArray<float, 1, 1, 1> y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }'
    )
    generated.instructions({"plain": plain, "CuPy's": arrays, "file": kernels.path("stencil")})
    counts = [int(line.partition(": ")[2].split()[0]) for line in capsys.readouterr().out.splitlines()]
    assert len(counts) == 3 and 5 < counts[0] <= counts[1] < counts[2]


def test_costs_by_fresh_processes() -> None:
    rows = {row["stage"]: row["seconds"]["median"] for row in generated.costs(1).rows}
    assert rows["CpuJit, from its cache"] < rows["CpuJit, first time"] and "nvcc, ahead of time" in rows


def test_two_processes_write_the_fields_in_some_order(capsys: pytest.CaptureFixture[str]) -> None:
    generated.orders_of_fields()
    for line in capsys.readouterr().out.splitlines():
        pairs = ["".join(sorted(pair)) for pair in line.split()]
        assert len(pairs) == 13 and pairs[0] == "ab" and pairs[-1] == "yz"


def wind(u, v, rows, columns):
    return ps.Assignment(v.center(), 3 * u.center() / 4 + u[-rows, -columns] / 4)


WRONG_WINDS = {
    "a NumPy array": (lambda u, v, r, c: np.ones((30, 30)), "wanted is an assignment"),
    "nothing": (lambda u, v, r, c: ps.Assignment(v.center(), u.center()), "nothing moves"),
    "a constant": (lambda u, v, r, c: ps.Assignment(v.center(), 0.5), "does not read u"),
    "down and right": (lambda u, v, r, c: ps.Assignment(v.center(), (3 * u[0, 0] + u[r, c]) / 4), "from below"),
    "swapped": (lambda u, v, r, c: ps.Assignment(v.center(), (3 * u[0, 0] + u[-c, -r]) / 4), "rows come first"),
    "shares": (lambda u, v, r, c: ps.Assignment(v.center(), u[0, 0] + u[-r, -c] / 4), "1.25 times"),
    "halves": (lambda u, v, r, c: ps.Assignment(v.center(), (u[0, 0] + u[-r, -c]) / 2), "another share"),
    "one distance": (lambda u, v, r, c: ps.Assignment(v.center(), (3 * u[0, 0] + u[-1, -2]) / 4), "another cell"),
    "in place": (lambda u, v, r, c: ps.Assignment(u.center(), (3 * u[0, 0] + u[-r, -c]) / 4), ""),
    "reads v": (lambda u, v, r, c: ps.Assignment(v.center(), (3 * u[0, 0] + v[-r, -c]) / 4), ""),
    "a free number": (lambda u, v, r, c: ps.Assignment(v.center(), sympy.Symbol("x") * u[-r, -c]), ""),
}


@pytest.mark.parametrize("name", WRONG_WINDS)
def test_wrong_winds(name: str) -> None:
    function, told = WRONG_WINDS[name]
    said = generated.check_wind(function)
    assert said.startswith("Not yet: ") and told in said, said


def test_the_wind() -> None:
    assert generated.check_wind(wind).startswith("Right")


def grid(u, rest=2, up=True):
    cells = [size - rest for size in u.shape[::-1]]
    return tuple(max(1, -(-cell // 16) if up else cell // 16) for cell in cells)


def numbers(u):
    return (*u.shape, u.shape[1], 1, u.shape[1], 1)


def test_the_launch(step: host.HostKernel) -> None:
    assert generated.check_launch(step, lambda u, v: (grid(u), numbers(u)), reference).startswith("Right")


WRONG_LAUNCHES = {
    "no numbers": (lambda u, v: ((1, 1), (0,) * 6), "nothing is written"),
    "five numbers": (lambda u, v: ((1, 1), (0,) * 5), "asks for six"),
    "no grid": (lambda u, v: None, "wanted are a grid and six numbers"),
    "a huge number": (lambda u, v: (grid(u), (10**400, *numbers(u)[1:])), "wanted are a grid and six numbers"),
    "a shape": (lambda u, v: (grid(u), (u.shape, *numbers(u)[1:])), "wanted are a grid and six numbers"),
    "grid of 0": (lambda u, v: ((0, 0), numbers(u)), "CUDA takes 1"),
    "bytes": (lambda u, v: (grid(u), (*u.shape, *u.strides, *v.strides)), "in elements"),
    "rounded down": (lambda u, v: (grid(u, up=False), numbers(u)), "how many blocks of 16"),
    "with the border": (lambda u, v: (grid(u, rest=0), numbers(u)), "have no inner cell"),
    "huge": (lambda u, v: ((1000, 1000), numbers(u)), "have no inner cell"),
    "a column more": (
        lambda u, v: (grid(u), (u.shape[0], u.shape[1] + 1, *numbers(u)[2:])),
        "the border is written, too",
    ),
    "rows first": (lambda u, v: (grid(u)[::-1], numbers(u)), ""),
    "by NumPy": (lambda u, v: np.copyto(v, reference(u)) or ((1, 1), (0,) * 6), "nothing is written"),
}


@pytest.mark.parametrize("name", WRONG_LAUNCHES)
def test_wrong_launches(name: str, step: host.HostKernel) -> None:
    function, told = WRONG_LAUNCHES[name]
    said = generated.check_launch(step, function, reference)
    assert said.startswith("Not yet: ") and told in said, said


NAIVE = r"""
extern "C" __global__ void naive(const float *u, float *v, long long h, long long w)
{
#ifdef DIVIDE
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const long long y = i / (unsigned)w, x = i - y * w;
#else
    const long long x = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
#endif
    if (x >= w || y >= h) return;
    const float *at = u + y * w + x;
    const bool inside = y > 0 && y < h - 1 && x > 0 && x < w - 1;
    v[y * w + x] = inside ? 0.25f * ((at[-w] + at[w]) + (at[-1] + at[1])) : *at;
}
"""


def mean_of_four(above, below, left, right, mean, block_size=128):
    mean[...] = np.float32(0.25) * ((above + below) + (left + right))


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy and the host way in CuPy's place, on small plates, with clocks that note the names of the calls."""
    fake = SimpleNamespace(
        **{name: getattr(np, name) for name in ("random", "nan", "empty_like", "float32", "allclose")}
    )
    fake.RawModule = lambda code, options: host.compile(code, options)
    fake.cuda = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None))
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(by_hand, "SIDE", 48)

    def time_calls(calls, moved, name):
        rows = [{"way": way, "seconds": summary([1e-4]), "share": 0.5} for way in [*calls, "device copy"]]
        return Table(name, rows)

    monkeypatch.setattr(measuring, "time_calls", time_calls)
    monkeypatch.setattr(measuring, "launch_seconds", lambda call, finish, batches: [1e-6])


def test_the_suspects_are_right_in_all_views_and_launches(no_gpu: None) -> None:
    by_hand = {
        "128 × 2": generated.launcher(NAIVE, (128, 2)),
        "64 × 2": generated.launcher(NAIVE, (64, 2)),
        "divides": generated.launcher(NAIVE, (128, 1), None, "-DDIVIDE"),
    }
    table = generated.suspects(mean_of_four, by_hand, reference)
    assert [row["way"] for row in table.rows] == [
        *by_hand,
        "ElementwiseKernel",
        "ElementwiseKernel, flat views",
        "ElementwiseKernel, block_size=256",
        "ElementwiseKernel, block_size=512",
        "device copy",
    ]
    with pytest.raises(AssertionError, match="wrong answer"):
        generated.suspects(lambda *arrays, **more: None, by_hand, reference)


def test_a_race_is_judged_and_has_the_launches(no_gpu: None) -> None:
    steps = {
        "by hand": generated.launcher(kernels.source("stencil"), (128, 2), (512, 8)),
        "views": lambda u, v: mean_of_four(*generated.views(u), v[1:-1, 1:-1]),
    }
    table = generated.against_copy(steps, reference, "race")
    assert table.cells()[0] == ["by hand", "100 µs", "100 – 100 µs", "0.500", "1.00 µs"] and len(table.rows) == 3
    with pytest.raises(AssertionError, match="nothing: a wrong answer"):
        generated.against_copy({"nothing": lambda u, v: None}, reference, "race")


def test_right_calls_are_counted(no_gpu: None, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrapper that keeps its first number is right once; one that reads each number, four times."""

    def carry(kept: list[float]):
        def call(u, v, c):
            kept[:] = kept or [c]
            v[1:-1, 1:-1] = u[1:-1, 1:-1] - np.float32(kept[0]) * (u[1:-1, 1:-1] - u[1:-1, :-2])
            kept[:] = kept[: calls["keeps"]]

        return call

    calls = {"keeps": 1}
    kernel = SimpleNamespace(compile=lambda: carry([]))
    generated.right_calls(kernel, {"keeps": lambda n: 0.25 * n})
    calls["keeps"] = 0
    generated.right_calls(kernel, {"reads": lambda n: 0.25 * n})
    assert capsys.readouterr().out == "keeps: 1 of 4 right\nreads: 4 of 4 right\n"
