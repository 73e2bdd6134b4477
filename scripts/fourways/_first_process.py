"""One way of a lesson, once, in this fresh process: prints the seconds of each stage as JSON.

Run by `fourways.first_result`, which sends the lesson's cells on standard input. Only the standard library is imported
here, so that what is measured is what the lesson's own cells need.
"""

import time

ENTERED = time.time()  # before anything else is imported

import ast  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402
from collections.abc import Callable  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from importlib.machinery import PathFinder  # noqa: E402
from typing import Any  # noqa: E402

stages = dict.fromkeys(("start", "import", "context", "inputs", "build", "load", "launch"), 0.0)


@contextmanager
def stage(name: str) -> Any:
    """Add the time of a block to a stage; what the block spends in `load` counts there only."""
    start, loaded = time.perf_counter(), stages["load"]
    yield
    stages[name] += time.perf_counter() - start - (0.0 if name == "load" else stages["load"] - loaded)


def split(source: str) -> tuple[Any, Any]:
    """A cell's top-level imports and the rest of it, each as code."""
    tree = ast.parse(source)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [node for node in tree.body if node not in imports]
    return tuple(compile(ast.Module(body, []), "<cell>", "exec") for body in (imports, rest))  # type: ignore


def loading(function: Callable) -> Callable:
    """`function`, with its time counted as `load`."""

    def timed(*args: Any, **kwargs: Any) -> Any:
        with stage("load"):
            return function(*args, **kwargs)

    return timed


def time_loads(way: str) -> None:
    """Count the call that hands the machine code to the driver (host: to the dynamic linker) as `load`."""
    if way in ("nvrtc", "nvcc"):
        from cupy.cuda import compiler

        class Module(compiler.function.Module):
            load = loading(compiler.function.Module.load)

        class TimedFunctions:
            def __getattr__(self, name: str) -> Any:
                return Module if name == "Module" else getattr(function, name)

        function, compiler.function = compiler.function, TimedFunctions()
    elif way == "pycuda":
        import pycuda.driver

        pycuda.driver.module_from_buffer = loading(pycuda.driver.module_from_buffer)
    elif way == "host":
        import ctypes

        ctypes.CDLL = loading(ctypes.CDLL)  # type: ignore


def prefer(folder: str) -> None:
    """Import what lies in `folder` rather than what is installed, be it by an editable install's own finder."""
    sys.path.insert(0, folder)
    sys.meta_path.insert(0, PathFinder)


def main() -> None:
    """Read the task, run it, print `{"stages": {...}, "problem": null}`."""
    task = json.load(sys.stdin)
    way = task["way"]
    if task["binding"]:
        prefer(task["binding"])
    stages["start"] = ENTERED - task["spawned"]
    namespace: dict[str, Any] = {"__name__": "first_result"}
    setup_imports, setup = split(task["setup"])
    way_imports, cell = split(task["cell"])
    with stage("import"):
        exec(setup_imports, namespace)
    synchronize: Callable = lambda: None  # noqa: E731
    to_device: Callable = lambda value: value  # noqa: E731
    if way != "host":
        import cupy

        synchronize, to_device = cupy.cuda.Device().synchronize, cupy.asarray
        with stage("context"):
            cupy.cuda.runtime.free(0)  # does nothing, in a context that it must first create
    with stage("load" if way == "pybind11" else "import"):  # an extension module is machine code
        exec(way_imports, namespace)
    time_loads(way)
    with stage("inputs"):
        exec(setup, namespace)
        inputs = namespace["make_inputs"](task["size"])
        expected = namespace["reference"](*inputs)
        arguments = [to_device(value) if hasattr(value, "shape") else value for value in (*inputs, expected * 0 - 1)]
        synchronize()
    with stage("build"):
        exec(cell, namespace)
    with stage("launch"):
        namespace[f"{task['kernel']}_{way}"](*arguments)
        synchronize()
    output: Any = arguments[-1]
    output = output.get() if hasattr(output, "get") else output
    wrong = int((abs(output - expected) > task["rtol"] * abs(expected)).sum() + (output != output).sum())
    print(json.dumps({"stages": stages, "problem": f"{wrong} elements are wrong" if wrong else None}))


if __name__ == "__main__":
    main()
