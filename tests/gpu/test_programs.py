"""On a GPU: the programs that lessons give to take along, where `fourways` is hidden. Each judges its own answer."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cupy
import pytest

from fourways import kernels, lesson, toolchain

HIDE = """
import sys


class Hidden:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in ("fourways", "fourways_aot"):
            raise ImportError(f"{name} is hidden")


sys.meta_path.insert(0, Hidden())
"""


def commands(page: lesson.Lesson) -> Iterator[tuple[str, Any]]:
    """Yield the commands that a lesson runs under "Take it with you", each with its cell."""
    section = ""
    for cell in page.notebook.cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                section = line if line.startswith("## ") else section
        elif section == "## Take it with you":
            yield from ((command, cell) for command in re.findall(r"(?m)^!((?:.*\\\n)*.*)", cell.source))


PAGES = {page.slug: page for page in lesson.lessons_and_pages() if list(commands(page))}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "sitecustomize.py").write_text(HIDE)
    path = [str(Path(sys.executable).parent), toolchain.child_environment()["PATH"]]
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    joined = {"PATH": os.pathsep.join(path), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return os.environ | toolchain.variables() | joined


@pytest.mark.parametrize("slug", PAGES)
def test_it_runs_without_our_package(slug: str, environment: dict[str, str]) -> None:
    hidden = subprocess.run([sys.executable, "-c", "import fourways"], env=environment, capture_output=True, text=True)
    assert "is hidden" in hidden.stderr
    folder, arch = kernels.root() / "lessons", cupy.cuda.Device().compute_capability
    for command, cell in commands(PAGES[slug]):
        if reason := lesson.skip_reason(cell):  # a package that the program needs
            pytest.skip(reason)
        command = command.replace("{sys.executable}", sys.executable).replace("{arch}", arch)  # as IPython does
        done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
