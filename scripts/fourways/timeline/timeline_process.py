"""One way of a lesson or a case, or a Python program, recorded by CUPTI in this fresh process.

Run as a file by `timeline.run`, which sends the task on standard input: that of `ways.run_way`, whose stages become
NVTX ranges; or `program`, the words of its command line. Prints `{"rows": [...]}`.
"""

import json
import runpy
import sys
from pathlib import Path

from fourways import checking
from fourways.timeline.cupti import Recorder
from fourways.timeline.trace import WARM
from fourways.ways import Task, run_way

LAUNCHES = 10  # warm ones


def one_way(told: Task) -> None:
    """Run one way from its imports to the copied result. Raises CheckFailure if the result is wrong."""
    from cupyx.profiler import profile, time_range

    ran = run_way(told, time_range)
    with profile(), time_range(WARM):
        for _ in range(LAUNCHES):
            ran.function(*ran.arguments)
        ran.synchronize()
    with time_range("copy back"):
        got = [checking.fetch(output) for output in ran.outputs]
    if ran.in_place:  # eleven launches have changed its outputs eleven times
        with time_range("check"):
            problem = checking.verdict(
                ran.function, told["way"], ran.inputs, ran.expected, told["rtol"], ran.in_place, told["atol"]
            )
    else:
        problem = checking.compare_all(got, ran.expected, told["rtol"], told["atol"])
    if problem:
        raise checking.CheckFailure(f"{told['kernel']}_{told['way']}, size {told['size']}: {problem}")


def program(path: str, *arguments: str) -> None:
    """Run a Python program like `python path arguments`. Raises its exceptions; SystemExit only for a failure."""
    sys.argv = [path, *arguments]
    sys.path.insert(0, str(Path(path).parent.resolve()))
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise


def main() -> None:
    """Do the task; a failure is one message on standard error, without a traceback."""
    told = json.load(sys.stdin)
    try:
        recorder = Recorder()  # before CuPy is imported
        if "program" in told:
            program(*told["program"])
        else:
            one_way(told)
        print("", json.dumps({"rows": recorder.rows()}), sep="\n")  # on a line of its own, whatever was printed before
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
