"""One way of a lesson, or of a kernel file, in this fresh process: `python -m fourways._profile_process 01 nvrtc`.

For profilers to look at. The stages (build, check, call) are NVTX ranges; `cudaProfilerStart` and
`cudaProfilerStop` stand around the call, which comes last, once everything is built and warm. With `--sources FOLDER`
kernels get line information, and the sources that it names are kept below that folder, whoever would delete them.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fourways import _first_process, checking, lesson, own_kernel, timing, toolchain

PROBLEM = "problem.txt"
"""In the folder of `--sources`: why the process failed."""


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


def load(target: str, way: str, entry: str | None = None) -> lesson.Ways:
    """The ways of a kernel file, or of a lesson with this one way. Raises LessonError where there is no such way."""
    if own_kernel.is_file(target):
        ways = own_kernel.ways(Path(target), entry, chosen=[way])
        if reason := ways.missing.get(way):
            raise lesson.LessonError(f"{way}: {reason}")
        return ways
    found = lesson.find(target)
    if not found.cells(f"way-{way}"):
        raise lesson.LessonError(f"{found.slug} has no way {way}: {found.meta['without'].get(way, 'no such cell')}")
    return lesson.load(found, [way])


def run(target: str, way: str, size: int, entry: str | None, sources: Path | None, binding: Path | None) -> None:
    """Build, check, and call once for the profiler. Raises CheckFailure where the answer is wrong."""
    toolchain.activate()
    import cupy  # noqa: F401  # before the first range: NVTX loads with it
    import numpy as np
    from cupyx.profiler import profile, time_range

    if sources:
        keep_sources(sources)
    if binding:
        _first_process.prefer(str(binding))
    with time_range("build"):
        ways = load(target, way, entry)
        function = ways.functions[way]
    with time_range("check"):
        inputs = ways.make_inputs(size)
        expected = ways.reference(*inputs)
        if problem := checking.verdict(function, way, inputs, expected, ways.rtol):
            raise checking.CheckFailure(f"{ways.kernel}_{way}, size {size}: {problem}; a wrong answer is not profiled")
    arguments = [checking.place(way, value) for value in (*inputs, np.empty_like(expected))]
    with profile(), time_range(f"{ways.kernel}_{way}", sync=True):
        function(*arguments)


def main() -> None:
    """Run; what fails is one message, without a traceback."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", help="a lesson's number, or a .cu or .cuh file")
    parser.add_argument("way")
    parser.add_argument("--size", type=int, default=timing.GPU_SIZE, help="elements")
    parser.add_argument("--entry", help="the kernel of a file")
    parser.add_argument("--sources", type=Path, help="line information, and the sources kept here")
    parser.add_argument("--binding", type=Path, help="the folder of the fourways_aot to import")
    asked = parser.parse_args()
    try:
        run(asked.target, asked.way, asked.size, asked.entry, asked.sources, asked.binding)
    except Exception as error:
        known = isinstance(error, lesson.LessonError | checking.CheckFailure)
        message = str(error) if known else f"{type(error).__name__}: {error}"
        if asked.sources:
            (asked.sources / PROBLEM).write_text(message, encoding="utf-8")
        sys.exit(message)


if __name__ == "__main__":
    main()
