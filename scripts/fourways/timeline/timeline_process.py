"""A lesson, or a Python program, in this fresh process, for profilers that know NVTX, such as Nsight Systems.

`python -m fourways.timeline.timeline_process 01 --way nvrtc` runs one way of a lesson, each stage an NVTX range;
without a way all its cells; `python -m fourways.timeline.timeline_process my.py 3` runs a program with its arguments.
With `--record FILE` CUPTI records what the process and the GPU do, and the rows are written there.
"""

import argparse
import json
import runpy
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fourways import checking, lesson
from fourways.timeline.cupti import Recorder
from fourways.timeline.trace import WARM
from fourways.ways import GPU_SIZE, WAYS, Task, run_way

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


def all_cells(target: lesson.Lesson) -> None:
    """Run every cell of a lesson that can run here, as in a notebook. Raises what a cell raises."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    lesson.name_cells(shell, target)
    for cell in target.notebook.cells:
        if cell.cell_type == "code" and not lesson.skip_reason(cell):
            shell.run_cell(cell.source, store_history=True).raise_error()


def program(path: Path, arguments: list[str]) -> None:
    """Run a Python program like `python path arguments`. Raises its exceptions; SystemExit only for a failure."""
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise


def main() -> None:
    """Run the stages; a failure is one message on standard error, without a traceback."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lesson", help="a lesson's number, a kernel file, or a Python program (.py)")
    parser.add_argument("--entry", help="the kernel of a file")
    parser.add_argument("--case", type=Path, help="the case of a file")
    parser.add_argument("--way", help="only this way, in stages; else every cell of the lesson")
    parser.add_argument("--size", type=int, default=GPU_SIZE, help="elements of a way's arrays")
    parser.add_argument("--record", type=Path, help="the JSON file to write")
    parser.add_argument("arguments", nargs="*", help="the program's; put -- before it if some start with a dash")
    asked = parser.parse_args()
    try:
        recorder = Recorder() if asked.record else None  # before CuPy is imported
        if asked.lesson.endswith(".py"):
            program(Path(asked.lesson), asked.arguments)
        elif asked.way:
            target = lesson.lesson_or_case(asked.lesson, asked.entry, asked.case)
            binding = None if isinstance(target, lesson.Lesson) else WAYS[asked.way].prepare(target)
            with TemporaryDirectory(prefix="fourways-") as folder:
                one_way(lesson.task(target, asked.way, asked.size, Path(folder), binding))
        else:
            all_cells(lesson.find(asked.lesson))
        if recorder:
            asked.record.write_text(json.dumps(recorder.rows()), encoding="utf-8")
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
