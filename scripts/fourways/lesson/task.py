"""The task of a fresh process that runs one way: a lesson's cells, or the cell that calls a kernel of your own."""

from pathlib import Path

import numpy as np

from fourways.case import Case
from fourways.lesson.notebook import Lesson
from fourways.lesson.ways import way_cell
from fourways.ways import WAYS, Task, function_name


def task(target: Lesson | Case, way: str, size: int, folder: Path, binding: Path | None = None) -> Task:
    """Return the task for a fresh process that runs one way of a lesson or of a case by `ways.run_way`.

    `size` is in elements. The inputs and right outputs of a case are written to `folder`, so that the process does not
    need this package. `binding` is the folder of the module to import instead of the installed one.
    Raises LessonError if the lesson has no such way.
    """
    if isinstance(target, Case):
        setup, cell = _saved(target, size, folder), WAYS[way].cell(target)
        kernel, atol = function_name(target, WAYS[way]).removesuffix(f"_{way}"), target.atol
    else:
        setup, cell = "\n".join(target.cells("setup")), "\n".join(way_cell(target, way))
        kernel, atol = str(target.meta["kernel"]), 0.0
    told: Task = {"way": way, "kernel": kernel, "setup": setup, "cell": cell}
    told |= {"size": size, "rtol": target.rtol, "atol": atol}
    return told | {"binding": str(binding.absolute()) if binding else None}


def _saved(case: Case, size: int, folder: Path) -> str:
    """Save a case's inputs and right outputs in `folder`, and return the setup code that loads them."""
    inputs = case.make_inputs(size)
    expected = case.reference(*inputs)
    outputs = {f"output_{name}": right for name, right in expected.items()}
    saved = folder / "case.npz"
    np.savez(saved, **{f"input_{i}": value for i, value in enumerate(inputs)}, **outputs)  # type: ignore[arg-type]
    return f"""import numpy as np

saved = np.load({str(saved)!r})
inputs = tuple(saved[f"input_{{number}}"][()] for number in range({len(inputs)}))
expected = {{name: saved["output_" + name] for name in {list(expected)!r}}}
in_place = {dict(case.starts)!r}


def make_inputs(size):
    return inputs


def reference(*inputs):
    return expected


def launch(*_):
    return {case.launch_of(inputs)!r}
"""
