"""The stencil without a GPU: its numbers on the CPU, its machine code, and the arguments that its binding refuses."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import fourways_aot
from fourways import building, figures, host, kernels, sass

U, V = 0x7F00_0000_0000, 0x7F00_0010_0000  # addresses that nobody reads: the call ends before
SHAPES = [*itertools.product((0, 1, 2, 3, 4, 5, 9), (0, 1, 2, 3, 4, 5, 8, 31)), (64, 1), (1, 300), (7, 1030)]


def step(u: np.ndarray) -> np.ndarray:
    """In float64, cell by cell, and rounded at the end: not the kernel's way of summing."""
    v = u.astype(np.float64)
    for i, j in itertools.product(range(1, u.shape[0] - 1), range(1, u.shape[1] - 1)):
        around = (u[i - 1, j], u[i + 1, j], u[i, j - 1], u[i, j + 1])
        v[i, j] = sum(map(float, around)) / 4
    return v.astype(np.float32)


def plate(shape: tuple[int, int]) -> np.ndarray:
    """Multiples of 1/256 below 1: the sum of four is exact, in any order."""
    return (np.random.default_rng(5).integers(0, 256, shape) / 256).astype(np.float32)


@pytest.mark.parametrize("options", [(), ("-DROWS=1", "-DCOLUMNS=1"), ("-DROWS=3", "-DCOLUMNS=2")], ids=str)
@pytest.mark.parametrize(("grid", "block"), [((1, 1), (1, 1)), ((1, 1), (128, 2)), ((2, 3), (5, 3))])
def test_right_on_every_shape_and_for_every_grid(options: tuple[str, ...], grid: tuple, block: tuple) -> None:
    kernel = host.compile(kernels.path("stencil"), options=options).get_function("stencil")
    for shape in SHAPES:
        u, padded = plate(shape), np.full(shape[0] * shape[1] + 64, np.nan, np.float32)
        v = padded[32 : 32 + u.size].reshape(shape)
        kernel(grid, block, (u, v, np.int64(shape[0]), np.int64(shape[1])))
        np.testing.assert_array_equal(v, step(u), err_msg=str(shape))
        assert np.isnan(padded[:32]).all() and np.isnan(padded[32 + u.size :]).all(), f"{shape}: wrote outside"


@pytest.mark.parametrize("offset", [0, 1, 2])
def test_arrays_that_no_vector_load_takes(offset: int) -> None:
    kernel = host.compile(kernels.path("stencil")).get_function("stencil")
    u = plate((9, 16))
    memory = np.full(u.size + offset, np.nan, np.float32)
    v = memory[offset:].reshape(u.shape)
    kernel((1, 1), (8, 2), (u, v, np.int64(9), np.int64(16)))
    np.testing.assert_array_equal(v, step(u))


def test_reads_nothing_outside_of_the_plate() -> None:
    kernel = host.compile(kernels.path("stencil"), sanitize="address").get_function("stencil")
    for shape in [(1, 1), (3, 4), (5, 8), (6, 7)]:
        u, v = plate(shape), np.full(shape, np.nan, np.float32)
        kernel((1, 2), (4, 2), (u, v, np.int64(shape[0]), np.int64(shape[1])))
        np.testing.assert_array_equal(v, step(u))


@pytest.mark.parametrize("rows", [1, 4, 8])
def test_the_cells_stay_in_registers(rows: int) -> None:
    """An array in local memory would be right, and several times slower."""
    built = building.build(kernels.path("stencil"), "nvrtc", "sm_90", options=(f"-DROWS={rows}",))
    resources = built.resources["stencil"]
    assert resources.stack_bytes == 0 and 0 < resources.registers <= 128


def test_four_cells_are_one_load() -> None:
    text = sass.disassemble(building.build(kernels.path("stencil"), "nvrtc", "sm_90").code)
    assert text.count("LDG.E.128") == 4 + 2, "rows and the two around them"
    assert text.count("STG.E.128") >= 1


def test_a_picture_has_one_scale_for_all_plates() -> None:
    figure = figures.heat_maps({"cold": np.zeros((4, 8)), "hot": np.full((4, 8), 100.0)}, "plates", "°C")
    images = [axes.images[0] for axes in figure.axes if axes.images]
    assert [image.get_clim() for image in images] == [(0.0, 100.0)] * 2
    assert [axes.get_title("left") for axes in figure.axes[:2]] == ["cold", "hot"]


# --- the binding ------------------------------------------------------------------------------------------------------


def array(shape: tuple[int, ...] = (4, 8), address: int = U, typestr: str = "<f4", **more: object) -> SimpleNamespace:
    about = {"shape": shape, "typestr": typestr, "data": (address, more.pop("read_only", False)), "version": 3}
    return SimpleNamespace(__cuda_array_interface__=about | more)


def refused(name: str) -> list[tuple[object, object, type[Exception], str]]:
    good = array(address=V)
    return [
        ([1.0], good, TypeError, "u is a list; wanted a GPU array"),
        (array(typestr="<f8"), good, TypeError, "u has dtype float64; wanted float32"),
        (array((32,)), array((32,), V), ValueError, r"u has shape \(32,\); wanted two dimensions, \(height, width\)"),
        (array((2, 4, 4)), array((2, 4, 4), V), ValueError, "u has shape .*; wanted two dimensions"),
        (array((8, 4)), good, ValueError, r"v has shape \(4, 8\); wanted \(8, 4\), the shape of u"),
        (array(strides=(4, 16)), good, ValueError, "u has shape .* and strides .*; wanted C order"),
        (array(), array(address=V, read_only=True), ValueError, "v is read-only; wanted"),
        (good, good, ValueError, "v shares memory with u"),
        (array(address=V - 4), good, ValueError, "v shares memory with u"),
    ]


@pytest.mark.parametrize(("u", "v", "error", "message"), refused("stencil"))
def test_a_bad_argument_of_a_step_is_named(u: object, v: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^stencil: {message}"):
        fourways_aot.stencil(u, v)


@pytest.mark.parametrize(("u", "v", "error", "message"), refused("stencil_steps"))
def test_a_bad_argument_of_many_steps_is_named(u: object, v: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^stencil_steps: {message}"):
        fourways_aot.stencil_steps(u, v, 10)


def test_many_steps_write_the_first_array_too() -> None:
    with pytest.raises(ValueError, match=r"^stencil_steps: u is read-only; wanted a writable array"):
        fourways_aot.stencil_steps(array(read_only=True), array(address=V), 2)


def test_the_number_of_steps_is_checked() -> None:
    with pytest.raises(ValueError, match=r"^stencil_steps: steps is -1; wanted 0 or more"):
        fourways_aot.stencil_steps(array(), array(address=V), -1)
    for given in (2.5, np.float32(2.5), "2", None):
        with pytest.raises(TypeError, match=r"^stencil_steps\(\): incompatible.*\n.*steps: "):
            fourways_aot.stencil_steps(array(), array(address=V), given)


def test_the_docstrings_say_where_the_result_lies() -> None:
    assert "v if steps is odd, else u" in fourways_aot.stencil_steps.__doc__
