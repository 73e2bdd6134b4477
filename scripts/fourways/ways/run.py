"""One way of a kernel in a fresh process, stage by stage.

A program that measures such a process imports nothing but this package before the stages. This module uses only the
standard library, so that the stages contain only the imports of the lesson's own cells.

A *task* is the process's input, as JSON: `way`, `kernel`, the source of the lesson's cells `setup` and `cell`, `size`
in elements, `rtol` and `atol`, and `binding`, the folder of the module to import, or None.
"""

import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from typing import Any, NamedTuple

from fourways.stages import split
from fourways.ways.way import WAYS, Stage

Task = dict[str, Any]


class Ran(NamedTuple):
    """A way after its first launch: `function(*arguments)` launches again; `inputs` and `expected` are NumPy's.

    `expected` and `in_place` are as for `Ways`.
    """

    function: Callable[..., None]
    arguments: list[Any]
    inputs: tuple
    expected: Any
    synchronize: Callable[[], None]
    in_place: dict[int, int]

    @property
    def outputs(self) -> list[Any]:
        """The arrays that a launch writes, where the way has them."""
        return self.arguments[len(self.inputs) :]

    def restore(self) -> None:
        """Put the contents from before the first launch back into the outputs."""
        for output, before in zip(self.outputs, _outputs(self.inputs, self.expected, self.in_place), strict=True):
            if hasattr(output, "set"):  # on the GPU
                output.set(before)
            else:
                output[...] = before


def run_way(task: Task, stage: Stage) -> Ran:
    """Run one way from its imports to the end of its first launch, each part within its stage.

    Machine code is handed to the driver in the stage `load`, which may lie within `build` or `launch`. The caller
    checks the result, with `checking.verdict(ran.function, way, ran.inputs, ran.expected, rtol, ran.in_place, atol)`.
    """
    way = WAYS[task["way"]]
    on_gpu = not way.on_host
    name = f"{task['kernel']}_{way.name}"
    namespace: dict[str, Any] = {"__name__": name}
    if task["binding"]:  # must win over an installed module, even over an editable install's own finder
        sys.path.insert(0, task["binding"])
        sys.meta_path.insert(0, PathFinder)
    setup_imports, setup = split(task["setup"])
    way_imports, cell = split(task["cell"])
    with stage("import"):
        exec(setup_imports, namespace)
        if on_gpu:
            import cupy

    def synchronize() -> None:
        """Wait for the GPU; on the CPU a launch is over when it returns."""
        if on_gpu:
            cupy.cuda.Device().synchronize()

    if on_gpu:
        with stage("context"):
            cupy.cuda.runtime.free(0)  # creates the context
    with stage(way.import_stage):
        exec(way_imports, namespace)
    way.mark_loads(stage)
    with stage("inputs"):
        exec(setup, namespace)
        inputs = namespace["make_inputs"](task["size"])
        expected = namespace["reference"](*inputs)
        arrays = [*inputs, *_outputs(inputs, expected, namespace.get("in_place", {}))]
        ndarray = type(arrays[-1])  # scalars have a shape, too
        arguments = [cupy.asarray(value) if on_gpu and isinstance(value, ndarray) else value for value in arrays]
        synchronize()
    with stage("build"):
        exec(cell, namespace)
    with stage("launch"):
        namespace[name](*arguments)
        synchronize()
    return Ran(namespace[name], arguments, inputs, expected, synchronize, namespace.get("in_place", {}))


def _outputs(inputs: tuple, expected: Any, in_place: dict[int, int]) -> list[Any]:
    """Outputs of the expected shapes and dtypes, all NaN or -1; an output in place is a copy of its input."""
    outputs = [array.copy() for array in (expected.values() if isinstance(expected, dict) else [expected])]
    for number, output in enumerate(outputs):
        if number in in_place:
            output[...] = inputs[in_place[number]]
        else:
            output.reshape(-1).view("u1").fill(255)
    return outputs
