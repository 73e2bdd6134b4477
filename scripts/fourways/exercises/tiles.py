"""The judge of lesson 04's kernel whose blocks move several tiles: right on any grid, and without a race."""

import numpy as np

from fourways import checking, host

_OPTIONS = ("-DTILE=4", "-DPAD=1")


def check_any_grid(text: str, cases: int = 8) -> str:
    """Judge the text of a kernel `tiled(a, b, h, w)` that transposes through a tile of TILE × TILE floats.

    The host way runs it with TILE=4 and blocks of 4 × 2 threads, on random grids and matrices of at most 5 × 5 tiles.
    It also looks for races, between the threads of one block and between blocks.
    """
    draw = np.random.default_rng()
    try:
        if _races(text, "thread", (1, 1)):
            return "Not yet: two threads of a block use one element of the tile, and no barrier orders them."
        kernel = host.compile(text, _OPTIONS, timeout=10).get_function("tiled")
        for down, right, *grid in draw.integers((3, 3, 1, 1), (6, 6, 5, 5), (cases, 4)):
            a, b, sizes = _arguments(4 * int(down), 4 * int(right))
            kernel(grid, (4, 2), (a, b, *sizes))
            if (wrong := np.argwhere(b != a.T)).size:
                (x, y), case = wrong[0], f"{a.shape[0]} × {a.shape[1]} floats, {grid[0]} × {grid[1]} blocks"
                return f"Not yet: {case}: b[{x}, {y}] is {b[x, y]:.3g}, expected {a[y, x]:.3g}."
        if _races(text, "blocks", (2, 2)):
            return "Not yet: the answers are right, but two blocks write the same element. Share the tiles."
    except (host.CompileError, host.KernelError) as error:
        return checking.not_yet(error)
    return f"Right on {cases} grids, and without a race."


def _races(text: str, kind: str, grid: tuple[int, int]) -> bool:
    a, b, sizes = _arguments(16, 20)
    try:
        host.compile(text, _OPTIONS, kind, timeout=10).get_function("tiled")(grid, (4, 2), (a, b, *sizes))
    except host.SanitizerError:
        return True
    return False


def _arguments(h: int, w: int) -> tuple[np.ndarray, np.ndarray, tuple[np.int64, np.int64]]:
    a = np.random.default_rng().random((h, w), dtype=np.float32)
    return a, np.full((w, h), np.nan, np.float32), (np.int64(h), np.int64(w))
