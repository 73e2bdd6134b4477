"""Every kernel of every lesson compiles for each architecture that CUDA 13 serves, from Turing to Blackwell."""

import ast
import functools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cell_python
import pytest

from fourways import building, files, kernels, lesson, toolchain


def sources(page: lesson.Lesson) -> dict[str, Path]:
    """Its kernels by name: files, and the texts with a kernel in its cells, but in exercises."""
    cells = [cell for cell in page.notebook.cells if cell.cell_type == "code" and "exercise" not in lesson.tags(cell)]
    texts = [text for cell in cells for text in strings(cell.source) if "__global__" in text]
    return {f"{name}.cuh": kernels.path(name) for name in page.kernels} | {
        f"text {number}": files.source_file(text) for number, text in enumerate(texts, 1)
    }


def strings(code: str) -> Iterator[str]:
    """The strings in a cell's Python; `!command` and `%magic` lines do not count."""
    for node in ast.walk(cell_python.tree(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def compiles(source: Path, arch: str) -> bool:
    """Whether NVRTC or nvcc takes it."""
    for compiler in building.COMPILERS:
        try:
            return bool(building.build(source, compiler, arch))
        except building.BuildError:
            pass
    return False


@pytest.mark.long
@pytest.mark.parametrize("page", lesson.lessons_and_pages(), ids=lambda page: page.slug)
def test_every_kernel_compiles_for_every_architecture(page: lesson.Lesson) -> None:
    """A text that compiles for no architecture is no kernel by itself: it needs macros or further text."""
    for name, source in sources(page).items():
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            taken = list(pool.map(functools.partial(compiles, source), toolchain.ARCHITECTURES))
        assert all(taken) or (name.startswith("text") and not any(taken)), (name, taken)
