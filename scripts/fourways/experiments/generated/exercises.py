"""The judges of lesson 10's exercises, which use the host way."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fourways import host
from fourways.experiments.generated.by_pystencils import cuda_text


def check_wind(wind: Callable[[Any, Any, int, int], Any]) -> str:
    """Judge `wind(u, v, rows, columns)`: v is 3/4 of the cell and 1/4 of the cell so far up and to the left.

    Its kernel runs by the host way, with several distances, on random plates.
    """
    for rows, columns in ((1, 2), (3, 1), (0, 2)):
        try:
            problem = _wrong_wind(wind, rows, columns)
        except Exception as error:
            problem = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
        if problem:
            return f"Not yet: {rows} above, {columns} to the left: {problem}"
    return "Right for three distances, on random plates."


def _wrong_wind(wind: Callable[[Any, Any, int, int], Any], rows: int, columns: int) -> str | None:
    """Return what is wrong with the kernel for one distance, or None. Raises what pystencils and compilers raise."""
    import pystencils as ps

    u_field, v_field = ps.fields("u, v: float32[2D]")
    assignment = wind(u_field, v_field, rows, columns)
    if not isinstance(assignment, ps.Assignment):
        return f"wanted is an assignment; a {type(assignment).__name__} came."
    text = ps.create_kernel(assignment, target=ps.Target.CUDA, function_name="wind", jit=ps.no_jit)
    kernel = host.compile(cuda_text(text)).get_function("wind")
    random = np.random.default_rng()
    u = random.random((random.integers(20, 40), random.integers(20, 40)), np.float32)
    v = np.full_like(u, np.nan)
    arguments = {"_data_u": u, "_data_v": v, **_numbers(u, v)}
    names = [parameter.name for parameter in text.parameters]
    if missing := set(names) - set(arguments):
        return f"its kernel needs numbers that nobody passes: {', '.join(sorted(missing))}."
    if not {"_data_u", "_data_v"} <= set(names):
        return "it does not read u and write v."
    before = u.copy()
    kernel((3, 3), (16, 16), [arguments[name] for name in names])
    if not np.array_equal(u, before):
        return "u has changed; v gets the new values."
    h, w = u.shape
    wanted = np.float32(0.75) * u
    wanted[rows:, columns:] += np.float32(0.25) * u[: h - rows, : w - columns]
    got, right = v[4:-4, 4:-4], wanted[4:-4, 4:-4]
    return None if np.allclose(got, right, atol=1e-6) else _what_came(u, got, right, rows, columns)


def _numbers(u: np.ndarray, v: np.ndarray) -> dict[str, np.int64]:
    """Return the sizes of u and the strides of both plates, in elements, by pystencils' names for the parameters."""
    numbers = {f"_size_{name}_{axis}": np.int64(u.shape[axis]) for name in "uv" for axis in (0, 1)}
    for name, plate in (("u", u), ("v", v)):
        numbers |= {f"_stride_{name}_{axis}": np.int64(plate.strides[axis] // plate.itemsize) for axis in (0, 1)}
    return numbers


def _what_came(u: np.ndarray, got: np.ndarray, right: np.ndarray, rows: int, columns: int) -> str:
    """Return a sentence on a wrong answer for the cells that are 4 from the border."""

    def moved(down: int, over: int) -> np.ndarray:
        part = np.roll(u, (down, over), (0, 1))[4:-4, 4:-4]
        return np.float32(0.75) * u[4:-4, 4:-4] + np.float32(0.25) * part

    if np.allclose(got, u[4:-4, 4:-4]):
        return "nothing moves."
    if np.allclose(got, moved(-rows, -columns), atol=1e-6):
        return "the value comes from below, to the right; which cell is v's new value from?"
    if np.allclose(got, moved(columns, rows), atol=1e-6):
        return f"the value comes from {columns} rows above, {rows} to the left; rows come first."
    if np.isnan(got).any():
        return "some inner cells of v are not written."
    if abs(ratio := float(got.mean() / right.mean()) - 1) < 0.05:
        return "some value comes from another cell, or has another share."
    return f"the values are {1 + ratio:.2f} times as large as they should be on average; do the shares add up to 1?"


def check_launch(kernel: host.HostKernel, by_hand: Callable[[Any, Any], Any], reference: Callable[[Any], Any]) -> str:
    """Judge `by_hand(u, v)`: the grid for blocks of 16 × 16 threads, and the six numbers that follow u and v.

    The kernel is pystencils' text of the heat step, by the host way. Plates of fixed and of random sizes are tried. The
    border may not be written, and no block may be without an inner cell.
    """
    random = np.random.default_rng()
    shapes = [(50, 70), (34, 18), (33, 19)]
    shapes += [(int(random.integers(3, 60)), int(random.integers(3, 60))) for _ in range(4)]
    for h, w in shapes:
        if problem := _wrong_launch(kernel, by_hand, reference, random.random((h, w), np.float32)):
            return f"Not yet: {h} rows of {w} cells: {problem}"
    return f"Right for {len(shapes)} plates, and no block too many."


def _wrong_launch(
    kernel: host.HostKernel, by_hand: Callable[[Any, Any], Any], reference: Callable[[Any], Any], u: np.ndarray
) -> str | None:
    """Return what is wrong with the launch for the plate u, or None."""
    (h, w), v = u.shape, np.full_like(u, np.nan)
    try:
        grid, numbers = by_hand(u.copy(), v.copy())
        grid, numbers = tuple(map(int, grid)), [np.int64(int(number)) for number in numbers]
    except (TypeError, ValueError, OverflowError) as error:
        return f"wanted are a grid and six numbers: {error}"
    if len(numbers) != 6:
        return f"{len(numbers)} numbers follow u and v; the text asks for six."
    try:
        kernel(grid, (16, 16), (u, v, *numbers))
    except host.KernelError as error:
        return f"are these strides, in elements? {str(error).splitlines()[0]}"
    except ValueError as error:
        return str(error)
    there = ~np.isnan(v)
    if not there.any():
        return "nothing is written: which six numbers does the text ask for?"
    if not there[1:-1, 1:-1].all():
        done = f"{there.any(axis=1).sum()} of {h - 2} rows and {there.any(axis=0).sum()} of {w - 2} columns are written"
        return f"{done}: how many blocks of 16 does each direction need?"
    if there.sum() > (h - 2) * (w - 2):
        return "the border is written, too: are the sizes those of the plate?"
    if not np.array_equal(v[1:-1, 1:-1], reference(u)[1:-1, 1:-1]):
        return "all inner cells are written, and not all are right."
    if (idle := int(np.prod(grid)) - -(-(w - 2) // 16) * -(-(h - 2) // 16)) > 0:
        return f"{idle} blocks have no inner cell. Where do the threads begin?"
    return None
