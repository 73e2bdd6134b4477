"""Plug-ins on a GPU: the binding at any size, linked programs right, and what lesson 08 says of CuPy and PyCUDA."""

import functools
import hashlib
from pathlib import Path

import cupy
import numpy as np
import pytest
from cuda.core import LEGACY_DEFAULT_STREAM, Device, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions
from cuda.core import launch as start

import fourways_aot
from fourways import kernels, lesson, toolchain
from fourways.case import Case

SIZES = (0, 1, 31, 33, 255, 257, 1009, 1_000_003)
PLUGIN = 'extern "C" __device__ float user_transform(float x) { return 0.99f * x + 0.5f; }\n'
FORMS: dict[str, dict[str, bool]] = {
    "ptx": {"relocatable_device_code": True},
    "cubin": {"relocatable_device_code": True},
    "ltoir": {"link_time_optimization": True},
}


def random(size: int) -> cupy.ndarray:
    return cupy.asarray(np.random.default_rng(7).random(size, np.float32))


def expected(x: cupy.ndarray) -> np.ndarray:
    """`x = 0.99 x + 0.5`, 64 times, in closed form."""
    slope = float(np.float32(0.99))
    return (slope**64 * x.get().astype(np.float64) + 0.5 * (1 - slope**64) / (1 - slope)).astype(np.float32)


@functools.cache
def cubin(form: str) -> bytes:
    """The library's kernel and the plug-in, each compiled to this form by cuda.core, linked."""
    arch = toolchain.gpus()[0].arch
    options = ProgramOptions(arch=arch, define_macro="PLUGIN", **FORMS[form])
    units = [Program(text, "c++", options).compile(form) for text in (kernels.source("apply_transform"), PLUGIN)]
    wanted = LinkerOptions(arch=arch, link_time_optimization=form == "ltoir", no_cache=True)
    return bytes(Linker(*units, options=wanted).link("cubin").code)


def module_function(code: bytes, path: Path) -> cupy.RawKernel:
    path.write_bytes(code)
    return cupy.RawModule(path=str(path)).get_function("apply_transform")


def loaded(code: bytes, folder: Path):
    # a path of its own for each program: CuPy does not read a path twice
    kernel = module_function(code, folder / f"{hashlib.sha256(code).hexdigest()}.cubin")
    return lambda x, y: kernel((max(1, -(-x.size // 256)),), (256,), (x, y, np.int64(x.size)))


def test_the_binding_is_right_at_any_size_and_shape() -> None:
    for size in SIZES:
        x, around = random(size), cupy.full(size + 64, cupy.nan, cupy.float32)
        y = around[:size]
        assert fourways_aot.apply_transform(x, y) is None
        np.testing.assert_allclose(y.get(), expected(x), rtol=Case.rtol)
        assert cupy.isnan(around[size:]).all(), "wrote outside of y"
    x = random(60).reshape(3, 4, 5)
    y = cupy.empty_like(x)
    fourways_aot.apply_transform(x, y)
    np.testing.assert_allclose(y.get(), expected(x), rtol=Case.rtol)


def test_a_bad_argument_leaves_the_output_alone() -> None:
    x, y = cupy.ones(33, cupy.float32), cupy.full(33, cupy.nan, cupy.float32)
    for arguments, error in (
        ((cupy.ones(33), y), TypeError),
        ((x[:5], y), ValueError),
        ((x[::3], y[:11]), ValueError),
        ((y, y), ValueError),
    ):
        with pytest.raises(error, match=r"^apply_transform: "):
            fourways_aot.apply_transform(*arguments)
    cupy.cuda.Device().synchronize()
    assert cupy.isnan(y).all()


def test_more_than_two_to_the_31_elements() -> None:
    size = 2**31 + 33
    if cupy.cuda.runtime.memGetInfo()[0] < 3 * 4 * size:
        pytest.skip("needs 26 GB of free GPU memory")
    x = cupy.ones(size, cupy.float32)
    want = float(expected(cupy.ones(1, cupy.float32))[0])
    for way in ("nvrtc", "pybind11"):
        y = cupy.full_like(x, cupy.nan)
        lesson.load(lesson.find("08")).functions[way](x, y)
        low, high = float(y.min()), float(y.max())  # NaN, if there is one
        assert low == high == pytest.approx(want, rel=Case.rtol), way
        del y
    del x
    cupy.get_default_memory_pool().free_all_blocks()


@pytest.mark.parametrize("form", FORMS)
def test_a_linked_program_is_right_in_every_form(form: str, tmp_path: Path) -> None:
    run = loaded(cubin(form), tmp_path)
    for size in SIZES:
        x = random(size)
        y = cupy.full_like(x, cupy.nan)
        run(x, y)
        np.testing.assert_allclose(y.get(), expected(x), rtol=Case.rtol)


def test_cupy_does_not_read_a_path_twice(tmp_path: Path) -> None:
    """The trap that lesson 08 shows: the file's second program is not the one that is loaded."""
    first = module_function(cubin("ptx"), tmp_path / "same.cubin")
    second = module_function(cubin("ltoir"), tmp_path / "same.cubin")
    other = module_function(cubin("ltoir"), tmp_path / "other.cubin")
    assert first.num_regs == second.num_regs > other.num_regs


def test_cuda_core_launches_on_cupys_arrays() -> None:
    from cuda.core import ObjectCode

    Device().set_current()
    kernel = ObjectCode.from_cubin(cubin("ltoir")).get_kernel("apply_transform")
    x = random(1009)
    y = cupy.full_like(x, cupy.nan)
    arguments = (x.data.ptr, y.data.ptr, np.int64(x.size))
    start(LEGACY_DEFAULT_STREAM, LaunchConfig(grid=4, block=256), kernel, *arguments)
    np.testing.assert_allclose(y.get(), expected(x), rtol=Case.rtol)


def test_pycudas_dynamic_module_links_two_sources() -> None:
    if reason := toolchain.missing("pycuda"):
        pytest.skip(reason)
    toolchain.activate()
    import pycuda.autoprimaryctx  # noqa: F401
    from pycuda.compiler import DynamicModule

    module = DynamicModule(no_extern_c=True)
    for text in ("#define PLUGIN\n" + kernels.source("apply_transform"), PLUGIN):
        module.add_source(text, nvcc_options=["-rdc=true"])
    kernel = module.link().get_function("apply_transform")
    x = random(1009)
    y = cupy.full_like(x, cupy.nan)
    kernel(x, y, np.int64(x.size), grid=(4, 1), block=(256, 1, 1))
    np.testing.assert_allclose(y.get(), expected(x), rtol=Case.rtol)
