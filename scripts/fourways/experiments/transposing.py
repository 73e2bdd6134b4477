"""What lesson 04 measures: kernels against the copy, PyCUDA's cache, and what a mistake or a stream does to a launch.

The judges of the lesson's exercises use the host way.
"""

import contextlib
import functools
import math
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fourways import checking, figures, host, kernels, measuring, tables, toolchain
from fourways.tables import Column, Row, Table

Transpose = Callable[[Any, Any], None]
"""A function of two arrays on the GPU, a and b, that makes b the transpose of a."""
_MACRO = re.compile(r"^\s*#\s*define\s+(\w+)[ \t]+([^\n]*)\n", re.MULTILINE)
_BARRIER = re.compile(r"__syncthreads\s*\(\s*\)")
_TILE = 4
_GRIDS = ((1, 1), (1, 2), (3, 1), (3, 2), (7, 5))
_SHAPES = ((8, 12), (4, 4), (20, 16))
_TIMEOUT = 10  # seconds
_UNWRITTEN = "nobody wrote it"


def against_copy(transposes: Mapping[str, Transpose], name: str) -> Table:
    """Time kernels that transpose one square float32 matrix (device clock), and a copy of as many bytes.

    The matrix has 16,384 rows and columns, or the largest power of two that fits the GPU. `name` is the table's name.
    Raises AssertionError if an answer is wrong.
    """
    import cupy as cp

    side = 1 << (measuring.gpu_size(8, most=2**28).bit_length() - 1) // 2
    a = cp.random.default_rng(1).standard_normal((side, side), dtype=cp.float32)
    b = cp.empty_like(a)
    calls = {way: functools.partial(transpose, a, b) for way, transpose in transposes.items()}
    measuring.require_right(calls, b, lambda: (b == a.T).all())
    timed = measuring.time_calls(calls, moved=2 * a.nbytes, name=name)
    timed.note = f"{side} × {side} elements. {timed.note}".strip()
    return timed


def launches(kernel: Any, right: int, down: int) -> Transpose:
    """Return a function that launches a PyCUDA kernel(a, b, h, w) with a block for each `down` × `right` elements.

    Blocks have 32 × 8 threads. The sides of a are multiples of `down` and `right`.
    """

    def transpose(a: Any, b: Any) -> None:
        h, w = a.shape
        kernel(a, b, np.int64(h), np.int64(w), grid=(w // right, h // down), block=(32, 8, 1))

    return transpose


def cached_builds(build: Callable[[str, list[str], str], Any], source: str) -> Table:
    """Time `build(text, options, folder)` after changes (host clock, one sample each), and tell whether it compiled.

    `folder` is the cache, and has the header `number.h`. A build compiled if the folder has a new file.
    """
    header_text = 'extern "C" __global__ void write(float *y) { *y = NUMBER; }'
    rows: list[Row] = []
    with TemporaryDirectory() as folder:
        header = Path(folder, "number.h")
        by_option = ["-include", str(header)]

        def timed(change: str, text: str, options: Sequence[str] = ()) -> None:
            known = len(list(Path(folder).iterdir()))
            start = time.perf_counter()
            build(text, list(options), folder)
            seconds = time.perf_counter() - start
            compiled = len(list(Path(folder).iterdir())) > known
            rows.append({"change": change, "clock": "host", "seconds": seconds, "compiled": compiled})

        timed("nothing cached yet", source)
        timed("the same again", source)
        timed("a comment added", source + "// hello")
        timed("two options added", source, ["-DPAD=3", "-DTILE=32"])
        timed("the options in another order", source, ["-DTILE=32", "-DPAD=3"])
        for included, options in (('#include "number.h"', []), ('# include "number.h"', []), ("", by_option)):
            header.write_text("#define NUMBER 1\n")
            build(f"{included}\n{header_text}", list(options), folder)
            if included.startswith("#include"):
                timed(f"{included}, nothing edited", f"{included}\n{header_text}", options)
            header.write_text("#define NUMBER 2\n")
            timed(f"header edited: {included or '-include number.h'}", f"{included}\n{header_text}", options)
    columns: list[Column] = ["change", "compiled", ("time", lambda row: tables.seconds(row["seconds"]))]
    return Table("pycuda_cache", rows, columns, "Host clock, one sample each.")


def run_python(program: str) -> str:
    """Run a program in a fresh Python process, and return its output; of an exception only the last line."""
    variables = toolchain.child_environment()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=variables)
    printed = done.stdout + "".join(done.stderr.splitlines(keepends=True)[-1:])
    return printed.rstrip("\5 -\n")  # some PyCUDA messages end in " - " and a stray byte


def attempt(calls: Mapping[str, Callable[[], Any]]) -> None:
    """Call each function, and print its name with the exception that it raises, or "no error"."""
    for name, call in calls.items():
        try:
            call()
            print(f"{name}: no error")
        except Exception as error:
            compiler = getattr(error, "stderr", "")  # long; its first words say what is wrong
            words = " ".join((compiler or str(error)).split())
            print(f"{name}: {type(error).__name__}: {words[: 70 if compiler else 200]}")


def in_a_thread(work: Callable[[], Any]) -> None:
    """Call `work` in a new thread, and print "launched", or its exception."""
    with ThreadPoolExecutor() as pool:
        error = pool.submit(work).exception()
    print(f"{type(error).__name__}: {error}" if error else "launched")


def behind(stream: Any, launch: Callable[[], Any], x: Any, y: Any) -> Any:
    """Queue on CuPy's `stream` a few milliseconds of work, then `x.fill(2)`, then call `launch`; return y at the end.

    `x` and `y` are arrays on the GPU. `x` is 1 before.
    """
    import cupy as cp

    device, busy = cp.cuda.Device(), cp.zeros((8192, 8192), cp.float32)
    cp.add(busy, 1, out=busy)  # compiles what follows
    x.fill(1)
    device.synchronize()
    with stream:
        for _ in range(50):
            cp.add(busy, 1, out=busy)
        x.fill(2)
        launch()
    device.synchronize()
    return y.ravel()


def picture(size: int) -> tuple[np.ndarray]:
    """Return about `size` grey pixels (uint8) of a photograph of Grace Hopper, a part of it or repeated."""
    photo = _photo()
    h = max(1, math.isqrt(size // 2))
    w = size // h + (size % 2 if size > 1 else 0)
    return (photo[np.ix_(np.arange(h) % photo.shape[0], np.arange(w) % photo.shape[1])],)


def turned_right(pixels: np.ndarray) -> np.ndarray:
    """Return a picture turned by 90 degrees clockwise, as an array of its own."""
    return np.ascontiguousarray(np.rot90(pixels, -1))


def show(turn: Transpose) -> Any:
    """Turn the photograph by `turn(picture, turned)`, and draw both."""
    photo = _photo()[::3, ::3].copy()
    turned = np.zeros(photo.shape[::-1], np.uint8)
    turn(photo, turned)
    figure, axes = figures.new((4.8, 2.4), columns=2)
    for ax, pixels, title in zip(axes, (photo, turned), ("picture", "turned"), strict=True):
        ax.imshow(pixels, cmap="gray", vmin=0, vmax=255, interpolation="none")
        ax.set_title(f"{title}: {pixels.shape[0]} rows, {pixels.shape[1]} columns", fontsize=8)
        ax.set_axis_off()
    return figure


def _photo() -> np.ndarray:
    from matplotlib import cbook, image

    path = cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)
    colours = image.imread(str(path))
    return np.asarray(colours.mean(axis=2), np.uint8)


def check_any_grid(text: str) -> str:
    """Judge the text of a kernel `tiled` that transposes through a tile of `TILE` × `TILE` floats, on any grid.

    It is tried by the host way with TILE=4, PAD=1 and blocks of 4 × 2 threads, on matrices whose sides are multiples of
    4. Then races are looked for, in the kernel as it is, and with each of its barriers left out: each must be needed.
    The answers must come from the tile.
    """
    code = kernels.without_comments(text) if isinstance(text, str) else ""
    while macro := _MACRO.search(code):  # a barrier may have a name
        code = re.sub(rf"\b{macro[1]}\b", macro[2].replace("\\", r"\\"), code.replace(macro[0], "\n", 1))
    if "tiled" not in kernels.parameters(code):
        return "Not yet: the text has no kernel `tiled`."
    barriers = list(_BARRIER.finditer(code))
    try:
        kernel = _compiled(code)
        tried = ((grid, shape) for grid in _GRIDS for shape in _SHAPES)
        wrong = next(filter(None, (_wrong(kernel, grid, shape) for grid, shape in tried)), None)
    except (host.CompileError, host.KernelError) as error:
        return checking.not_yet(error)
    if barriers and not (wrong and _UNWRITTEN in wrong) and _races(code):
        return "Not yet: one block, several tiles: two threads use one element of the tile, and no barrier orders them."
    if wrong:
        return f"Not yet: {wrong}."
    if _races(code, "blocks", (3, 2)):
        return "Not yet: the answers are right, but two blocks write the same element. Share the tiles."
    idle = re.sub(r"(\btiled\s*\([^)]*\)\s*\{)", r"\1 if (blockIdx.x == 2 && blockIdx.y == 1) return;", code)
    if not _wrong(_compiled(idle), (3, 2), (8, 12)):
        return "Not yet: the answers are right, but block (2, 1) of 3 × 2 blocks does nothing. Share the tiles."
    if not barriers:
        return "Not yet: the answers are right, but no barrier is left. Use the tile."
    for number, barrier in enumerate(barriers, 1):
        if not _races(code[: barrier.start()] + "(void)0" + code[barrier.end() :]):
            one = f"barrier {number} of {len(barriers)}"
            return f"Not yet: right, but {one} orders nothing: there is no race without it."
    if not _uses_tile(code):
        return "Not yet: the answers are right, but they do not come from the tile."
    return f"Right on {len(_GRIDS)} grids, without a race, and with no barrier too many ({len(barriers)})."


def _uses_tile(code: str) -> bool:
    """Return whether negative numbers arrive in `b` if a thread writes them to a shared variable after each barrier."""
    declared = re.findall(r"__shared__\s*(?:struct\s*\w*\s*\{[^}]*\})?([^;]*);", code)
    for name in re.findall(r"(?m)(\w+)\s*(?:\[[^]]*\]\s*)*(?=,|$)", "\n".join(declared)):
        spoil = f"if (threadIdx.x + threadIdx.y == 0) __builtin_memset((void *)&{name}, 0xbf, sizeof {name});"
        spoiled = _BARRIER.sub(f"do {{ __syncthreads(); {spoil} __syncthreads(); }} while (0)", code)
        a, b, sizes = _arguments((8, 12))
        with contextlib.suppress(host.CompileError, host.KernelError):  # no variable's name; or it held an index
            _compiled(spoiled)((1, 1), (_TILE, 2), (a, b, *sizes))
            if (b < 0).any():
                return True
    return False


def _compiled(code: str, sanitize: str | None = None) -> host.HostKernel:
    options = (f"-DTILE={_TILE}", "-DPAD=1")
    return host.compile(code, options, sanitize=sanitize, timeout=_TIMEOUT).get_function("tiled")


def _arguments(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, Sequence[np.int64]]:
    h, w = shape
    a = np.random.default_rng().random((h, w), dtype=np.float32)
    return a, np.full((w, h), np.nan, np.float32), (np.int64(h), np.int64(w))


def _wrong(kernel: host.HostKernel, grid: tuple[int, int], shape: tuple[int, int]) -> str | None:
    """Return the first wrong element after a launch, or None. Raises KernelError."""
    a, b, sizes = _arguments(shape)
    launch = f"{shape[0]} × {shape[1]} elements on a grid of {grid[0]} × {grid[1]} blocks"
    kernel(grid, (_TILE, 2), (a, b, *sizes))
    if not (wrong := np.argwhere(b != a.T)).size:
        return None
    row, column = wrong[0]
    came = _UNWRITTEN if np.isnan(b[row, column]) else "it holds another element"
    return f"{launch}: b[{row}, {column}] is wrong, {came}"


def _races(code: str, kind: str = "thread", grid: tuple[int, int] = (1, 1)) -> bool:
    a, b, sizes = _arguments((20, 16))
    try:
        _compiled(code, kind)(grid, (_TILE, 2), (a, b, *sizes))
    except host.SanitizerError:
        return True
    return False
