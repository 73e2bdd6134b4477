"""One way of a lesson, or of a kernel file, in this fresh process, for profilers to look at.

Run as `python -m fourways.nsight.nsight_process 01 nvrtc`. The stages of `run_way` and the check are NVTX
ranges; `cudaProfilerStart` and `cudaProfilerStop` stand around one more call, which comes last, once everything is
warm.

Source lines of a kernel that is compiled at run time need three things: `-lineinfo`, the temporary file that CuPy or
PyCUDA compiled and deletes, and `--import-source`, which copies the text into the report once the process has ended.
`--sources FOLDER` sees to the first two, the lesson's own code unchanged: sources are kept below that folder.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from fourways import checking, kernels, lesson, toolchain
from fourways.nsight.nsight import PROBLEM
from fourways.ways import GPU_SIZE, WAYS, Task, run_way


def run(told: Task, sources: Path | None) -> None:
    """Build, check, and call once for the profiler. Raises CheckFailure where the answer is wrong."""
    toolchain.activate()
    import cupy  # noqa: F401  # before the first range: NVTX loads with it
    from cupyx.profiler import profile, time_range

    if sources:
        tempfile.tempdir = str(sources)
        WAYS[told["way"]].keep_sources()
    ran = run_way(told, time_range)
    way, name = told["way"], f"{told['kernel']}_{told['way']}"
    with time_range("check"):
        if problem := checking.verdict(
            ran.function, way, ran.inputs, ran.expected, told["rtol"], ran.in_place, told["atol"]
        ):
            raise checking.CheckFailure(f"{name}, size {told['size']}: {problem}; a wrong answer is not profiled")
    with profile(), time_range(name, sync=True):
        ran.function(*ran.arguments)


def main() -> None:
    """Run; a failure is one message, without a traceback."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", help="a lesson's number, or a .cu or .cuh file")
    parser.add_argument("way")
    parser.add_argument("--size", type=int, default=GPU_SIZE, help="elements")
    parser.add_argument("--entry", help="the kernel of a file")
    parser.add_argument("--case", type=Path, help="the case of a file")
    parser.add_argument("--sources", type=Path, help="line information, and the sources kept here")
    parser.add_argument("--binding", type=Path, help="the folder of the module to import")
    asked = parser.parse_args()
    try:
        target = lesson.lesson_or_case(asked.target, asked.entry, asked.case)
        with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
            run(lesson.task(target, asked.way, asked.size, Path(folder), asked.binding), asked.sources)
    except Exception as error:
        known = isinstance(error, kernels.InputError | checking.CheckFailure)
        message = str(error) if known else f"{type(error).__name__}: {error}"
        if asked.sources:
            (asked.sources / PROBLEM).write_text(message, encoding="utf-8")
        sys.exit(message)


if __name__ == "__main__":
    main()
