"""Linked programs launched by three libraries, checked and timed, and the fractals that they draw."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from fourways import checking, figures, host, kernels, measuring
from fourways.experiments.plugins.units import compiled, linked
from fourways.tables import Column, Row, Table, summary

WINDOWS = {"Mandelbrot": (-2.35, 1.15, 3.45), "Julia": (-1.65, 1.1, 3.3), "Burning Ship": (-1.81, 0.083, 0.14)}
"""Left, top and width of the part of the complex plane that a fractal's picture shows."""
STEPS = 256
"""The most steps that `escape_time` takes; a point with so many has not escaped."""


def _blocks(size: int) -> int:
    return max(1, -(-size // 256))


def _launcher(kernel: Any, grid: Any, block: Any) -> Callable[..., None]:
    from cuda.core import LEGACY_DEFAULT_STREAM, LaunchConfig, launch

    config = LaunchConfig(grid=grid, block=block)
    return lambda *arguments: launch(LEGACY_DEFAULT_STREAM, config, kernel, *arguments)


def runner(program: Any) -> Callable[[Any, Any], None]:
    """Return a function of two arrays on the GPU that launches a program's `apply_transform` by `cuda.core`."""
    from cuda.core import Device

    Device().set_current()
    kernel = program.get_kernel("apply_transform")
    return lambda x, y: _launcher(kernel, _blocks(x.size), 256)(x.data.ptr, y.data.ptr, np.int64(x.size))


def cupy_run(kernel: Any) -> Callable[[Any, Any], None]:
    """Return a function of two arrays on the GPU that launches an `apply_transform` of CuPy's."""
    return lambda x, y: kernel((_blocks(x.size),), (256,), (x, y, np.int64(x.size)))


def pycuda_run(kernel: Any) -> Callable[[Any, Any], None]:
    """Return a function of two arrays on the GPU that launches an `apply_transform` of PyCUDA's."""
    return lambda x, y: kernel(x, y, np.int64(x.size), grid=(_blocks(x.size), 1), block=(256, 1, 1))


def verdict(run: Callable[[Any, Any], None], case: Any) -> str:
    """Return "right" or what is wrong with `run(x, y)` on the GPU. `case` has make_inputs, reference and rtol."""
    inputs = case.make_inputs(1_000_003)
    return checking.verdict(run, "gpu", inputs, case.reference(*inputs), case.rtol) or "right"


def race(runs: Mapping[str, Callable[[Any, Any], None]], case: Any, name: str = "linked") -> Table:
    """Time each `run(x, y)` on 2²⁶ floats, or as many as the GPU holds (device clock), after a check against `case`.

    Raises AssertionError where an answer is wrong.
    """
    import cupy as cp

    for way, run in runs.items():
        if (told := verdict(run, case)) != "right":
            raise AssertionError(f"{way}: {told}")
    size = measuring.gpu_size(bytes_per_element=8, most=2**26)
    x, y = cp.ones(size, cp.float32), cp.empty(size, cp.float32)
    timed = measuring.time_calls({way: partial(run, x, y) for way, run in runs.items()}, name=name)
    timed.note = f"{size:,} elements."
    return timed


def _view(name: str, shape: tuple[int, int]) -> tuple[Any, ...]:
    """Return the arguments of `escape_time` behind the picture."""
    left, top, across = WINDOWS[name]
    return (*map(np.int64, shape), *map(np.float32, (left, top, across / shape[1])))


def _drawing(program: Any, name: str, picture: Any) -> Callable[[], None]:
    """Return a function that draws a fractal of `WINDOWS` into a float32 array on the GPU."""
    height, width = picture.shape
    start = _launcher(program.get_kernel("escape_time"), (-(-width // 32), -(-height // 8)), (32, 8))
    return partial(start, picture.data.ptr, *_view(name, picture.shape))


def draw_on_the_cpu(plugin: str, name: str) -> np.ndarray:
    """Draw a fractal of `WINDOWS` by the host way, with library and plug-in as one text: 320 rows of 480 pixels."""
    picture = np.full((320, 480), np.nan, np.float32)
    kernel = on_the_host(plugin + kernels.source("escape_time"), "escape_time")
    kernel((15, 40), (32, 8), (picture, *_view(name, picture.shape)))
    return picture


def on_the_host(text: str, kernel: str) -> host.HostKernel:
    """Compile library and plug-in as one text by the host way, and return a kernel that stops after ten seconds."""
    return host.compile(text, ("-DPLUGIN",), timeout=10).get_function(kernel)


def fractals(steps: Mapping[str, str], pictures: Mapping[str, np.ndarray]) -> Table:
    """Link `escape_time` to each step as PTX and as LTO-IR, and time a picture of 4096 × 6144 pixels (device clock).

    `steps[name]` is the text of the `user_step` of a fractal of `WINDOWS`. `same_pixels` is the share of the pixels of
    `pictures[name]` that the GPU draws alike.
    """
    import cupy as cp
    from cuda.core import Device

    Device().set_current()
    large, source, rows = cp.empty((4096, 6144), cp.float32), kernels.source("escape_time"), list[Row]()
    library = {form: compiled(source, form) for form in ("ptx", "ltoir")}
    for name, step in steps.items():
        row: Row = {"plug_in": name, "clock": "device"}
        for form, unit in library.items():
            program = linked(unit, compiled(step, form))
            row[f"{form}_seconds"] = summary(measuring.device_seconds(_drawing(program, name, large)))
        small = cp.full(pictures[name].shape, cp.nan, cp.float32)
        _drawing(program, name, small)()
        same = float(np.mean(small.get() == pictures[name]))
        rows.append(row | {"ratio": row["ptx_seconds"]["median"] / row["ltoir_seconds"]["median"], "same_pixels": same})
    columns: list[Column] = [("plug-in", "plug_in"), ("PTX", "ptx_seconds"), ("LTO-IR", "ltoir_seconds"), "ratio"]
    columns.append(("as on the CPU", lambda row: f"{row['same_pixels']:.1%}"))
    return Table("fractals", rows, columns, f"{large.shape[0]} × {large.shape[1]} pixels.")


def show(pictures: Mapping[str, np.ndarray]) -> Any:
    """Draw pictures of `draw`: the logarithm of the steps, and black for points that never escape."""
    logs = {name: np.where(steps == STEPS, 0, np.log2(2 + steps)) for name, steps in pictures.items()}
    drawn, axes = figures.new((4.8, 0.8 + 2.4 * len(logs)), len(logs), squeeze=False)
    drawn.suptitle("One kernel, three plug-ins")
    highest = max(float(grid.max()) for grid in logs.values())
    for ax, (name, grid) in zip(axes[:, 0], logs.items(), strict=True):
        image = ax.imshow(grid, cmap="inferno", vmin=0, vmax=highest, interpolation="none")
        ax.set_title(name, loc="left", fontsize=8)
        ax.set_axis_off()
    drawn.colorbar(image, ax=list(axes[:, 0]), label="log2(2 + steps until escape), 0 if never", shrink=0.6)
    return drawn
