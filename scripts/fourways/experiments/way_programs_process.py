"""One program that doubles an array, in this fresh process: prints its seconds and its behaviour, as JSON.

Run as a file by `experiments.way_programs`, which sends the task on standard input. Before the first
stage it imports only `stages` of the package.
"""

import time

ENTERED = time.time()  # before anything else is imported

import contextlib  # noqa: E402
import io  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

from fourways.stages import split  # noqa: E402

VALUES = [float(number) for number in range(1, 17)]
NOTHING = [float("nan")] * len(VALUES)
BATCHES, CALLS = 5, 100


def array(values: list[float], dtype: str = "float32", on_host: bool = False) -> Any:
    """An array of the program's own library, on the GPU if it has one.

    A program that has CuPy gets CuPy's, because other packages import PyTorch wherever it is installed.
    """
    cupy, torch = sys.modules.get("cupy"), sys.modules.get("torch")
    if torch and not cupy:
        return torch.tensor(values, dtype=getattr(torch, dtype), device="cpu" if on_host else "cuda")
    if cupy and not on_host:
        return cupy.array(values, dtype)
    import numpy

    return numpy.array(values, dtype)


def wait() -> None:
    """Wait until the GPU is done."""
    if cupy := sys.modules.get("cupy"):
        cupy.cuda.Device().synchronize()
    elif torch := sys.modules.get("torch"):
        torch.cuda.synchronize()


def outcome(function: Callable, x: Any, y: Any) -> str:
    """Call the function and return the outcome: "right", "wrong numbers" or an exception's name."""
    try:
        function(x, y)
        wait()
        return "right" if y.tolist() == [2 * value for value in VALUES] else "wrong numbers"
    except Exception as error:
        return type(error).__name__


def mistakes(function: Callable, tell: Callable[[dict[str, str]], None]) -> None:
    """Call `function` with wrong arrays and `tell` each outcome by name.

    Right before a call `tell` it as a "crash", the last word where the call ends this process. A host array comes last:
    its call could end the process's context.
    """
    gaps = [value for value in VALUES for _ in range(2)]
    arrays = {
        "x is float64": lambda: (array(VALUES, "float64"), array(NOTHING)),
        "y is float64": lambda: (array(VALUES), array(NOTHING, "float64")),
        "x has gaps": lambda: (array(gaps)[::2], array(NOTHING)),
        "x on the host": lambda: (array(VALUES, on_host=True), array(NOTHING)),
    }
    became = dict.fromkeys(arrays, "not tried")
    for name, make in arrays.items():
        try:
            x, y = make()
        except Exception:  # the call before has ended the context
            break
        tell(became | {name: "crash"})
        became[name] = outcome(function, x, y)
    tell(became)


def main() -> None:
    """Read the task, run it, print `stages`, `launches` and `mistakes`.

    More than once, a line each, and the last holds: what was measured is out before a wrong array can end the process.
    """
    task = json.load(sys.stdin)
    namespace: dict[str, Any] = {"__name__": "program"}
    imports, rest = split(task["source"])
    stages, then = {"start": ENTERED - task["spawned"]}, time.perf_counter()

    def end(stage: str) -> None:
        nonlocal then
        stages[stage], then = time.perf_counter() - then, time.perf_counter()

    stdout = sys.stdout
    with contextlib.redirect_stdout(io.StringIO()):
        exec(imports, namespace)
        end("import")
        exec(rest, namespace)
        end("build")
        function = namespace[task["function"]]
        x, y = array(VALUES), array(NOTHING)
        function(x, y)
        wait()
        end("launch")
        assert y.tolist() == [2 * value for value in VALUES], f"the first answer is wrong: {y.tolist()}"
        answer: dict[str, Any] = {"stages": stages, "launches": []}
        for _ in range(BATCHES):
            begin = time.perf_counter()
            for _ in range(CALLS):
                function(x, y)
            answer["launches"].append((time.perf_counter() - begin) / CALLS)
            wait()
        mistakes(function, lambda became: print(json.dumps(answer | {"mistakes": became}), file=stdout, flush=True))
    os._exit(0)  # destroying a context after a mistake could fail


if __name__ == "__main__":
    main()
