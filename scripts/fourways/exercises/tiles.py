"""The judge of lesson 04's kernel whose blocks move several tiles: right on any grid, and without a race."""

import numpy as np

from fourways import host
from fourways.exercises.functions import run_kernel, same


def check_any_grid(text: str, cases: int = 8) -> str:
    """Judge the text of a kernel `tiled(a, b, h, w)` that transposes through a tile of TILE × TILE floats.

    The host way runs it with TILE=4 and blocks of 4 × 2 threads, on random grids and matrices of at most 5 × 5 tiles.
    It also looks for races, between the threads of one block and between blocks.
    """
    random = np.random.default_rng()

    def tiled(grid: tuple[int, int], a: np.ndarray, sanitize: str | None = None) -> np.ndarray:
        b, sizes = np.full(a.T.shape, np.nan, np.float32), map(np.int64, a.shape)
        run_kernel(text, "tiled", grid, (4, 2), a, b, *sizes, options=("-DTILE=4", "-DPAD=1"), sanitize=sanitize)
        return b

    def draw() -> tuple[tuple[int, int], np.ndarray]:
        down, right, *grid = random.integers((3, 3, 1, 1), (6, 6, 5, 5)).tolist()
        return tuple(grid), random.random((4 * down, 4 * right), np.float32)

    told = same(tiled, lambda grid, a: a.T, draw, cases)
    for grid, kind in (((1, 1), "thread"), ((2, 2), "blocks")):
        try:
            if told.startswith("Right"):
                tiled(grid, random.random((16, 20), np.float32), kind)
        except host.SanitizerError:
            what = "threads of a block use one element of the tile" if kind == "thread" else "blocks write one element"
            told = f"Not yet: the answers are right, but two {what}, and nothing orders them."
    return told
