"""One way of a kernel in a fresh process, stage by stage.

What measures such a process imports this module and, before the stages, nothing else: only the standard library is
used here, so that what is measured is what the lesson's own cells need.

A *task* is what such a process is told, as JSON: `way`, `kernel`, the source of the lesson's cells `setup` and `cell`,
`size` in elements, `rtol`, and `binding`, the folder of the `fourways_aot` to import, or None.
"""

import ast
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.machinery import PathFinder
from typing import Any, NamedTuple

STAGES = ("start", "import", "context", "inputs", "build", "load", "launch")
"""The stages of a first result, in order; `start`, the interpreter's own, is over when this module is imported."""

Task = dict[str, Any]
Stage = Callable[[str], AbstractContextManager]
"""A block of the run, by its name: `with stage("build"): ...` may time it, or name it for a profiler."""


class Ran(NamedTuple):
    """A way after its first launch: `function(*arguments)` launches again; `inputs` and `expected` are NumPy's."""

    function: Callable[..., None]
    arguments: list[Any]
    inputs: tuple
    expected: Any
    synchronize: Callable[[], Any]


def run_way(task: Task, stage: Stage) -> Ran:
    """Run one way from its imports to the end of its first launch, each part within its stage.

    Machine code is handed to the driver in the stage `load`, which may lie within `build` or `launch`. What is right
    is for the caller to say, with `checking.verdict(ran.function, way, ran.inputs, ran.expected, rtol)`.
    """
    way = task["way"]
    namespace: dict[str, Any] = {"__name__": f"{task['kernel']}_{way}"}
    synchronize: Callable[[], Any] = lambda: None  # noqa: E731
    to_device: Callable[[Any], Any] = lambda value: value  # noqa: E731
    if task["binding"]:
        prefer(task["binding"])
    setup_imports, setup = _split(task["setup"])
    way_imports, cell = _split(task["cell"])
    with stage("import"):
        exec(setup_imports, namespace)
        if way != "host":
            import cupy
    if way != "host":
        synchronize, to_device = cupy.cuda.Device().synchronize, cupy.asarray
        with stage("context"):
            cupy.cuda.runtime.free(0)  # does nothing, in a context that it must first create
    with stage("load" if way == "pybind11" else "import"):  # an extension module is machine code
        exec(way_imports, namespace)
    _mark_loads(way, stage)
    with stage("inputs"):
        exec(setup, namespace)
        inputs = namespace["make_inputs"](task["size"])
        expected = namespace["reference"](*inputs)
        arrays = (*inputs, expected * 0 - 1)
        arguments = [to_device(value) if hasattr(value, "shape") else value for value in arrays]
        synchronize()
    with stage("build"):
        exec(cell, namespace)
    function = namespace[f"{task['kernel']}_{way}"]
    with stage("launch"):
        function(*arguments)
        synchronize()
    return Ran(function, arguments, inputs, expected, synchronize)


def prefer(folder: str) -> None:
    """Import what lies in `folder` rather than what is installed, be it by an editable install's own finder."""
    sys.path.insert(0, folder)
    sys.meta_path.insert(0, PathFinder)


def _split(source: str) -> tuple[Any, Any]:
    """A cell's top-level imports and the rest of it, each as code."""
    tree = ast.parse(source)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [node for node in tree.body if node not in imports]
    return tuple(compile(ast.Module(body, []), "<cell>", "exec") for body in (imports, rest))  # type: ignore


def _mark_loads(way: str, stage: Stage) -> None:
    """From now on the call that hands machine code to the driver (host: to the dynamic linker) is in stage `load`."""

    def loading(function: Callable) -> Callable:
        def staged(*args: Any, **kwargs: Any) -> Any:
            with stage("load"):
                return function(*args, **kwargs)

        return staged

    if way in ("nvrtc", "nvcc"):
        from cupy.cuda import compiler

        class Module(compiler.function.Module):
            load = loading(compiler.function.Module.load)

        class StagedFunctions:
            def __getattr__(self, name: str) -> Any:
                return Module if name == "Module" else getattr(function, name)

        function, compiler.function = compiler.function, StagedFunctions()
    elif way == "pycuda":
        import pycuda.driver

        pycuda.driver.module_from_buffer = loading(pycuda.driver.module_from_buffer)
    elif way == "host":
        import ctypes

        ctypes.CDLL = loading(ctypes.CDLL)  # type: ignore
