"""The subjects that the project was made from: for each one, a lesson or page whose executed cells use it.

A program may stand in a text, so strings count. Comments do not.
"""

import functools
import io
import re
import tokenize
from pathlib import Path

import pytest

from fourways import lesson

# The subject, the lesson's number or the page's name, and what its cells hold. Where a cell calls a helper which uses
# the subject, there follow the helper's file and what that file holds.
SUBJECTS: list[tuple[str, ...]] = [
    ("RawModule, NVRTC", "01", r'cp\.RawModule\(code=source, backend="nvrtc"\)'),
    ("RawModule, NVCC", "01", r'cp\.RawModule\(code=source, backend="nvcc"\)'),
    ("CUB, a block", "03", r"cub::BlockReduce<float, 512>"),
    ("CUB, the device", "03", r"fourways_aot\.device_reduce\(", "cpp/aot/reduce.cu", r"cub::DeviceReduce::Sum\("),
    ("name_expressions", "10", r"RawModule\(code=template, name_expressions=names\)"),
    ("get_global, CuPy", "02", r'clip_module\.get_global\("line"\)'),
    ("get_global, PyCUDA", "pycuda_beside_cupy", r'address, nbytes = module\.get_global\("factor"\)'),
    ("SourceModule", "04", r"SourceModule\(source, no_extern_c=True\)\.get_function"),
    ("SourceModule, its cache", "pycuda_beside_cupy", r"SourceModule\(\n(.*\n)*.*cache_dir=folder"),
    ("SourceModule, prepared calls", "pycuda_beside_cupy", r'\.prepare\("PPqq"\)\.prepared_call'),
    ("PYBIND11_MODULE", "05", r"PYBIND11_MODULE\(heat, m\)"),
    ("PYBIND11_MODULE by CMake", "05", r"heat/CMakeLists\.txt\n(.*\n)*pybind11_add_module\(heat "),
    ("benchmark of cupyx", "06", r"benchmark\(call"),
    ("%gpu_timeit", "06", r"%gpu_timeit -n 100"),
    ("one-time costs: the context", "01", r"# context\ncp\.cuda\.Device\(\)\.synchronize\(\)"),
    ("one-time costs: to compile", "01", r"# build\nkernel = cp\.RawModule\(code="),
    ("CUPY_CACHE_DIR", "caches_and_storms", r"!CUPY_CACHE_DIR=\S+ python \S+/answer\.py"),
    ("a CI cache", "caches_and_storms", r'assert built == 0, "a hit was promised"'),
    ("time_range", "07", r"from cupyx\.profiler import .*\btime_range\n(.*\n)*.*with time_range\("),
    ("profile()", "07", r"with profile\(\),"),
    ("ncu --import-source", "07", r"ncu --export(.*\n)*.*--import-source 1 "),
    ("CUPY_CACHE_SAVE_CUDA_SOURCE", "07", r"^!CUPY_CACHE_DIR=\S+ CUPY_CACHE_SAVE_CUDA_SOURCE=1 "),
    ("CUPY_ACCELERATORS, cub", "03", r"!CUPY_ACCELERATORS=cub python"),
    ("CUPY_ACCELERATORS, none", "03", r'!CUPY_ACCELERATORS="" python'),
    ("CUPY_ACCELERATORS, cutensor", "03", r"!CUPY_ACCELERATORS=cub,cutensor python"),
    ("streams overlapped", "11", r"partial\(pipeline, saxpy, queues\(n\)\) for n in \(1, 2, 3\)"),
    ("cupyx.jit", "10", r"@jit\.rawkernel\(\)"),
    ("ElementwiseKernel", "02", r"cp\.ElementwiseKernel\("),
    ("ReductionKernel", "03", r"cp\.ReductionKernel\("),
    ("float32 against float64", "which_precision", r"stored, summed in pairs:\n(.*\n)*.*cp\.RawModule\(code=series"),
    ("Program of cuda.core", "08", r'Program\(text, "c\+\+", options\)\.compile\("ltoir"\)'),
    ("Linker, LinkerOptions", "08",
     r'LinkerOptions\(\*\*lto\)\n(.*\n)*.*Linker\(library, user, options=joining\)\.link\("cubin"\)'),
    ("relocatable_device_code", "08", r"linking\.compile\(text, form, arch, define_macro=",
     "scripts/fourways/linking.py", r'\("cubin", \{"relocatable_device_code": True\}'),
    ("link_time_optimization", "08", r'"link_time_optimization": True'),
    ("get_kernel", "beyond_the_four", r'\.get_kernel\("doublify"\)'),
    ("offline -dlto", "08", r'linking\.offline\(\[folder / "library\.cu"',
     "scripts/fourways/linking.py", r'"-dlto" if lto else'),
    ("CpuJit", "10", r"CpuJit\(GccInfo\(optlevel"),
    ("GccInfo, ClangInfo", "10", r"for compiler in \(GccInfo\(\), ClangInfo\(\)\)"),
    ("NoJit", "10", r"jit=ps\.no_jit"),
    ("KernelWrapper", "10", r"step = kernel\.compile\(\)\nprint\(step\.code\)"),  # what `compile` returns
    ("CupyJit", "10", r"target=ps\.Target\.CUDA(.*\n)*gpu_step = on_gpu\.compile\(\)"),  # the default for a GPU
    ("LaunchGrid", "10", r"LaunchGrid"),
    ("PyTorch's JIT, a kernel", "beyond_the_four", r"torch\.cuda\._compile_kernel\("),
    ("PyTorch's JIT, an extension", "beyond_the_four", r"inline = load_inline\("),
    ("Cython", "beyond_the_four", r"python -m cython -3 --cplus by_cython\.pyx"),
    ("Dask", "caches_and_storms", r"from distributed import Client, LocalCluster(.*\n)*.*client\.submit\(function, "),
    ("NCCL", "several_gpus", r"^!python programs/heat_on_gpus\.py",
     "lessons/programs/heat_on_gpus.py", r"nccl\.Communicator\.init\("),
]  # fmt: skip
LOST: dict[str, str] = {}
"""Subjects that no lesson has today, each with the reason."""


def without_comments(code: str) -> str:
    """Return a Python text without its comments."""
    lines = code.splitlines()
    python = re.sub(r"(?m)^(\s*)[!%].*$", r"\1pass", code)
    for token in tokenize.generate_tokens(io.StringIO(python).readline):
        if token.type == tokenize.COMMENT:
            row, start = token.start
            lines[row - 1] = lines[row - 1][:start].rstrip()
    return "\n".join(lines)


@functools.cache
def executed(name: str) -> list[str]:
    """Return the code of each cell of a lesson, but not of those tagged `wrong`."""
    return [without_comments(cell.source) for cell in lesson.find(name).notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("row", SUBJECTS, ids=[row[0] for row in SUBJECTS])
def test_a_lesson_uses_the_subject(row: tuple[str, ...], root: Path, request: pytest.FixtureRequest) -> None:
    subject, name, in_a_cell, *helper = row
    if subject in LOST:
        request.applymarker(pytest.mark.xfail(strict=True, raises=AssertionError, reason=LOST[subject]))
    assert any(re.search(in_a_cell, cell) for cell in executed(name)), f"no cell of {name} has {in_a_cell}"
    if helper:
        file, in_the_file = helper
        text = (root / file).read_text(encoding="utf-8")
        text = without_comments(text) if file.endswith(".py") else re.sub("//.*", "", text)
        assert re.search(in_the_file, text), f"{file} lacks {in_the_file}"
