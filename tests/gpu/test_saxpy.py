"""Saxpy on a GPU: its binding at any size and address, and what lesson 02 says of CuPy, in case it changes."""

import secrets
from pathlib import Path

import cupy
import numpy as np
import pytest

import fourways_aot
from fourways import kernels, lesson, sass

SIZES = (0, 1, 3, 4, 5, 31, 33, 255, 257, 1009, 1025, 1_000_003)


def random(size: int, seed: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).random(size, np.float32))


def moved(array: np.ndarray, offset: int) -> cupy.ndarray:
    """A copy on the GPU that starts `offset` floats after a multiple of 256 bytes."""
    around = cupy.full(array.size + offset, cupy.nan, cupy.float32)
    around[offset:] = cupy.asarray(array)
    return around[offset:]


@pytest.mark.parametrize("offsets", [(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3), (1, 1, 1), (4, 8, 12)])
def test_the_binding_is_right_at_any_size_and_address(offsets: tuple[int, int, int]) -> None:
    for size in SIZES:
        x, y = random(size, 5), random(size, 6)
        around = cupy.full(size + 64, cupy.nan, cupy.float32)
        z = around[offsets[2] : offsets[2] + size]
        assert fourways_aot.saxpy(2.5, moved(x, offsets[0]), moved(y, offsets[1]), z) is None
        np.testing.assert_allclose(z.get(), 2.5 * x.astype(np.float64) + y, rtol=1e-6)
        z.fill(cupy.nan)
        assert cupy.isnan(around).all(), "wrote outside of z"


@pytest.mark.parametrize("a", [2.5, np.float32(2.5), np.float64(2.5), "on the GPU", -3, True, np.int64(7)])
def test_the_binding_converts_any_number(a: object) -> None:
    a = cupy.asarray(2.5) if a == "on the GPU" else a  # here, as collecting tests must not need a GPU
    x, z = cupy.arange(33, dtype=cupy.float32), cupy.full(33, cupy.nan, cupy.float32)
    fourways_aot.saxpy(a, x, x, z)
    assert (z == (float(a) + 1) * x).all()  # type: ignore[arg-type]


def test_a_bad_argument_leaves_the_output_alone() -> None:
    x, z = cupy.ones(33, cupy.float32), cupy.full(33, cupy.nan, cupy.float32)
    for arguments, error in (
        (("two", x, x, z), TypeError),
        ((cupy.ones(2), x, x, z), TypeError),
        ((1e300, x, x, z), ValueError),
        ((2.5, x, x[:5], z), ValueError),
        ((2.5, x[::3], x[::3], z[:11]), ValueError),
        ((2.5, x, z, z), ValueError),
    ):
        with pytest.raises(error, match=r"^saxpy(: |\(\): incompatible)"):
            fourways_aot.saxpy(*arguments)
    cupy.cuda.Device().synchronize()
    assert cupy.isnan(z).all()


def test_more_than_two_to_the_31_elements() -> None:
    size = 2**31 + 33
    if cupy.cuda.runtime.memGetInfo()[0] < 4 * 4 * size:
        pytest.skip("needs 35 GB of free GPU memory")
    ways = lesson.load(lesson.find("02"))
    x, y = cupy.arange(size, dtype=cupy.float32), cupy.full(size, 0.5, cupy.float32)
    for way in ("nvrtc", "pybind11"):
        z = cupy.full(size, cupy.nan, cupy.float32)
        ways.functions[way](np.float32(2), x, y, z)
        step = 2**28
        pieces = (slice(i, i + step) for i in range(0, size, step))
        assert all(bool((cupy.abs(z[p] - (2 * x[p] + y[p])) <= 1e-6 * z[p]).all()) for p in pieces), way
        del z
    del x, y
    cupy.get_default_memory_pool().free_all_blocks()


def test_cupy_flushes_denormals_and_the_binding_does_not() -> None:
    tiny = np.full(4, 1e-40, np.float32)
    x, y, z = cupy.asarray(tiny), cupy.zeros(4, cupy.float32), cupy.ones(4, cupy.float32)
    fourways_aot.saxpy(1, x, y, z)
    np.testing.assert_array_equal(z.get(), tiny)  # in NumPy: CuPy's comparison flushes, too
    kernel = cupy.RawModule(code=kernels.source("saxpy"), options=("-ftz=false",)).get_function("saxpy")
    kernel((1,), (4,), (np.float32(1), x, y, z, np.int64(4)))
    np.testing.assert_array_equal(z.get(), 0)


def test_cupys_cache_does_not_see_an_edited_header(tmp_path: Path) -> None:
    def answer(*options: str) -> int:
        text = '#include "answer.h"\nextern "C" __global__ void answer(float *y) { *y = ANSWER; }'
        y = cupy.zeros(1, cupy.float32)
        kernel = cupy.RawModule(code=text, options=(f"-I{tmp_path}", *options)).get_function("answer")
        kernel((1,), (1,), (y,))
        return int(y[0])

    for number in (1, 2):
        (tmp_path / "answer.h").write_text(f"#define ANSWER {number}\n")
        assert answer() == 1, "lesson 02 says that an edit goes unseen"
        assert answer(f"-DDIGEST={number}") == number


def test_nvrtcs_own_cache_does_not_see_ftz() -> None:
    """Should this fail, NVRTC has mended it: lesson 02 has a section to rewrite."""
    core = pytest.importorskip("cuda.core")
    renamed = f"saxpy=saxpy_{secrets.token_hex(4)}"  # not in the cache yet

    def flushes(ftz: bool, no_cache: bool) -> bool:
        options = core.ProgramOptions("saxpy", "sm_90", define_macro=renamed, ftz=ftz, no_cache=no_cache)
        code = core.Program(kernels.source("saxpy"), "c++", options).compile("cubin").code
        return "FFMA.FTZ" in sass.disassemble(code)

    assert not flushes(ftz=False, no_cache=False)
    assert not flushes(ftz=True, no_cache=False), "lesson 02 says that the cache answers with the code of before"
    assert flushes(ftz=True, no_cache=True)
