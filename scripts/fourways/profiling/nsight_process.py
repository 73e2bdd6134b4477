"""One way of a lesson, or of a kernel file, in this fresh process, for profilers to look at.

Run as `python -m fourways.profiling.nsight_process 01 nvrtc`. The stages of `stages.run_way` and the check are NVTX
ranges; `cudaProfilerStart` and `cudaProfilerStop` stand around one more call, which comes last, once everything is
warm.

Source lines of a kernel that is compiled at run time need three things: `-lineinfo`, the temporary file that CuPy or
PyCUDA compiled and deletes, and `--import-source`, which copies the text into the report once the process has ended.
`--sources FOLDER` sees to the first two, the lesson's own code unchanged: sources are kept below that folder.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fourways import checking, lesson, stages, toolchain
from fourways.profiling.nsight import PROBLEM


class KeptFolder:
    """`tempfile.TemporaryDirectory`, but what lies in it stays."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.name = tempfile.mkdtemp()

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *problem: object) -> None:
        """Leave the folder where it is."""

    cleanup = __exit__


def keep_sources(folder: Path) -> None:
    """From now on CuPy and PyCUDA compile with line information, and leave their temporary sources below `folder`."""
    import cupy

    tempfile.tempdir = str(folder)
    tempfile.TemporaryDirectory = KeptFolder  # type: ignore  # CuPy compiles in one
    os.environ["NVCC_APPEND_FLAGS"] = f"{os.environ.get('NVCC_APPEND_FLAGS', '')} -lineinfo"
    for name in ("RawModule", "RawKernel"):
        setattr(cupy, name, with_line_information(getattr(cupy, name)))
    if toolchain.installed("pycuda"):
        from pycuda import compiler

        compile_plain = compiler.compile_plain
        compiler.compile_plain = lambda source, options, keep, *rest: compile_plain(source, options, True, *rest)


def with_line_information(build: Callable) -> Callable:
    """`cupy.RawModule` or `cupy.RawKernel` with one more option for NVRTC; nvcc has it from NVCC_APPEND_FLAGS."""

    def built(*arguments: Any, **named: Any) -> Any:
        named |= dict(zip(("code", "name", "options", "backend"), arguments, strict=False))
        if named.get("backend", "nvrtc") == "nvrtc":
            named["options"] = (*named.get("options", ()), "-lineinfo")
        return build(**named)

    return built


def run(told: stages.Task, sources: Path | None) -> None:
    """Build, check, and call once for the profiler. Raises CheckFailure where the answer is wrong."""
    toolchain.activate()
    import cupy  # noqa: F401  # before the first range: NVTX loads with it
    from cupyx.profiler import profile, time_range

    if sources:
        keep_sources(sources)
    ran = stages.run_way(told, time_range)
    way, name = told["way"], f"{told['kernel']}_{told['way']}"
    with time_range("check"):
        if problem := checking.verdict(
            ran.function, way, ran.inputs, ran.expected, told["rtol"], ran.in_place, told["atol"]
        ):
            raise checking.CheckFailure(f"{name}, size {told['size']}: {problem}; a wrong answer is not profiled")
    with profile(), time_range(name, sync=True):
        ran.function(*ran.arguments)


def main() -> None:
    """Run; what fails is one message, without a traceback."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", help="a lesson's number, or a .cu or .cuh file")
    parser.add_argument("way")
    parser.add_argument("--size", type=int, default=lesson.GPU_SIZE, help="elements")
    parser.add_argument("--entry", help="the kernel of a file")
    parser.add_argument("--case", type=Path, help="the case of a file")
    parser.add_argument("--sources", type=Path, help="line information, and the sources kept here")
    parser.add_argument("--binding", type=Path, help="the folder of the fourways_aot to import")
    asked = parser.parse_args()
    try:
        found = lesson.lesson_or_case(asked.target, asked.entry, asked.case)
        run(lesson.task(found, asked.way, asked.size, asked.binding), asked.sources)
    except Exception as error:
        known = isinstance(error, lesson.LessonError | checking.CheckFailure)
        message = str(error) if known else f"{type(error).__name__}: {error}"
        if asked.sources:
            (asked.sources / PROBLEM).write_text(message, encoding="utf-8")
        sys.exit(message)


if __name__ == "__main__":
    main()
