"""What a fresh process is told, to run one way: the lesson's own cells, or a kernel of one's own."""

from pathlib import Path

import numpy as np

from fourways import stages
from fourways.lesson.case import Case
from fourways.lesson.case_ways import cell, function_name
from fourways.lesson.meant import lesson_or_case
from fourways.lesson.notebook import Lesson
from fourways.lesson.ways import GPU_SIZE, way_cell


def task(target: str | Lesson | Case, way: str, size: int = GPU_SIZE, binding: Path | None = None) -> stages.Task:
    """What a fresh process is told to run one way of a lesson or of a case: `stages`.

    `target` is either, or a name as for `lesson_or_case`; `binding` is the folder of the `fourways_aot` to import in
    place of the installed one. Raises LessonError where there is no such lesson or way.
    """
    found = lesson_or_case(target) if isinstance(target, str) else target
    told = {"way": way, "size": size, "binding": binding and str(binding.absolute())}
    if isinstance(found, Case):
        name = function_name(found, way)
        setup = f"from fourways import lesson\ncase = lesson.Case({', '.join(map(repr, found.made_of))})\n"
        setup += "make_inputs, reference, in_place = case.make_inputs, case.reference, case.starts"
        told |= {"kernel": name.removesuffix(f"_{way}"), "setup": setup, "cell": f"{name} = case.function({way!r})"}
        return told | {"rtol": found.rtol, "atol": found.atol}
    setup, cell = "\n".join(found.cells("setup")), "\n".join(way_cell(found, way))
    told |= {"kernel": str(found.meta["kernel"]), "setup": setup, "cell": cell}
    return told | {"rtol": found.rtol, "atol": 0.0}


def stand_alone(case: Case, way: str, size: int, folder: Path, binding: Path | None = None) -> stages.Task:
    """`task` for a case, without this package: inputs and right outputs lie in `folder`, and the way is its cell.

    `binding` is the folder of `package.build_alone`.
    """
    inputs = case.make_inputs(size)
    expected = case.reference(*inputs)
    outputs = {f"output_{name}": right for name, right in expected.items()}
    saved = folder / "case.npz"
    np.savez(saved, **{f"input_{i}": value for i, value in enumerate(inputs)}, **outputs)  # type: ignore[arg-type]
    setup = f"""import numpy as np

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
    if way == "pybind11":
        from fourways import package

        calls = package.cell(case, function_name(case, way))
    else:
        calls = cell(case, way)
    return task(case, way, size, binding) | {"setup": setup, "cell": calls}
