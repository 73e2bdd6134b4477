"""NVTX ranges around a lesson's cells, so that a profiler names them: an IPython extension.

`FOURWAYS_NVTX=1 nsys profile fourways run 1` shows each cell of lesson 01 as a range, with its number and tags. With a
tag, `FOURWAYS_NVTX=measure nsys profile --capture-range=cudaProfilerApi fourways run 1`, CUDA's profiler is also
switched on for cells that carry the tag, and off again after them.
"""

import os
from contextlib import ExitStack
from typing import Any

from fourways.lesson.notebook import Lesson, find, tags

ASKED, LESSON = "FOURWAYS_NVTX", "FOURWAYS_LESSON"
"""Environment variables: the user's request, `1` or a tag, and the lesson whose cells a Jupyter kernel runs."""


def load_ipython_extension(shell: Any) -> None:
    """Name the cells of the lesson in FOURWAYS_LESSON. IPython calls this function to load the extension."""
    name_cells(shell, find(os.environ[LESSON]))


def name_cells(shell: Any, lesson: Lesson) -> None:
    """Put every cell that `shell` runs from now on into a range: `cell 3 way-nvcc`, numbered as in `fourways run`.

    CuPy is imported here, before the first range.
    """
    from cupyx.profiler import profile, time_range

    code_cells = [cell for cell in lesson.notebook.cells if cell.cell_type == "code"]
    ranges = {cell.source: " ".join([f"cell {number}", *tags(cell)]) for number, cell in enumerate(code_cells, 1)}
    asked, stack = os.environ.get(ASKED), ExitStack()

    def begin(info: Any) -> None:
        name = ranges.get(info.raw_cell, "cell")
        if asked in name.split()[2:]:
            stack.enter_context(profile())
        stack.enter_context(time_range(name))

    shell.events.register("pre_run_cell", begin)
    shell.events.register("post_run_cell", lambda result: stack.close())
