"""One kernel through a Python package's own compiler call, timed in fresh processes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fourways import process, toolchain
from fourways.building.compile import BuildError

TIMES = 3
"""The number of times that each build is timed; the whole module of cmake is timed once."""

# cuda.core and CuPy do not switch off NVRTC's own cache; libraries' warnings are no compiler messages
_ALONE = {"CUDA_CACHE_DISABLE": "1", "PYTHONWARNINGS": "ignore"}


class NotOfferedError(Exception):
    """The compiler does not offer what was asked, through no fault of the kernel; the message says why."""


def task_of(path: Path, package: str, arch: str, options: Sequence[str]) -> dict[str, Any]:
    """The input of `packages_process`: compile the file `path` by `package` (cupy, pycuda, cuda.core), for `arch`."""
    return {
        "package": package,
        "name": path.name,
        "source": path.read_text(encoding="utf-8"),
        "folder": str(path.parent),
        "arch": arch,
        "options": list(options),
        "include_dirs": [str(folder) for folder in toolchain.include_dirs()],
        "nvcc": str(toolchain.nvcc()),
        "target": "cubin",
        "times": 1,
        "report": False,
        "cache": None,
        "result": None,
    }


def run(task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run one task in a fresh process with caches in `folder`. Raises BuildError or NotOfferedError."""
    environment = toolchain.child_environment() | toolchain.cold_caches(folder) | _ALONE | {"TMPDIR": str(folder)}
    ended = process.run(Path(__file__).with_name("packages_process.py"), task, environment)
    answer = ended.answer or {"error": ended.words}
    if "not_offered" in answer:
        raise NotOfferedError(answer["not_offered"])
    if "error" in answer:
        raise BuildError(f"{task['package']} could not compile {task['name']} for {task['arch']}", answer["error"])
    return answer


def cached(task: dict[str, Any], folder: Path) -> list[float]:
    """The seconds of the same build in fresh processes, after one process has filled the cache."""
    cache = folder / "cache"
    cache.mkdir()
    task = task | {"cache": str(cache)}
    run(task, folder)
    return [run(task, folder)["seconds"][0] for _ in range(TIMES)]
