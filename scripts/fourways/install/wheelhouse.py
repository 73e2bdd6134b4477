"""The wheelhouse: a folder of wheels for a machine without network."""

import re
import tempfile
from collections.abc import Callable, Iterable
from fnmatch import fnmatch
from pathlib import Path

from packaging.utils import canonicalize_name

from fourways import kernels, toolchain
from fourways.install.pip import InstallError, find_python, pip, run
from fourways.install.pycuda import PYCUDA, build_pycuda, install_for_gpu

DESK_TOOLS = ("import-linter", "mypy", "ruff", "selenium")
"""The packages of the extra `test` that no lesson and no GPU test uses."""


def wheelhouse(
    folder: str | Path, python: str = "3.12", have: Iterable[str] = (), log: Callable[[str], None] = print
) -> list[Path]:
    """Gather in `folder` the wheels that lessons, book and GPU tests need on another machine; return their paths.

    `python` is the Python version of that machine, or the path of an interpreter of that version here. That machine
    must have the same kind of processor, and a C library at least as new.
    `have` lists the packages that it has, one per entry: a line of `pip freeze`, or a pattern such as `nvidia-*`. The
    folder gets all other packages of the three locks, with their hashes checked, except DESK_TOOLS; PyCUDA is built
    here. A machine without nvcc gets CUDA's toolkit whole, because nvcc finds its headers only in its own folder.
    `folder` must be empty or missing, and is written whole or not at all. Raises InstallError.
    """
    folder = Path(folder).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InstallError(f"{folder} is there already and not empty: remove it, or name another folder")
    interpreter, lock, patterns = find_python(python), read_locks(), [*map(_name, have), *DESK_TOOLS]

    def is_there(name: str) -> bool:
        return any(fnmatch(name, pattern) for pattern in patterns)

    of_cuda = "nvidia-*" if not is_there("nvidia-cuda-nvcc") else ""
    carried = [name for name in (*lock, "pycuda") if fnmatch(name, of_cuda) or not is_there(name)]
    wanted = "".join(entry for name in carried for entry in lock.get(name, ()))
    log(f"gathering wheels for {interpreter}: half a gigabyte if nothing is left out")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
        gathering, listed = Path(work, "wheels"), Path(work, "wanted.txt")
        gathering.mkdir()
        listed.write_text(wanted, encoding="utf-8")
        options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(listed)]
        if wanted:
            run(pip(interpreter, "download", *options, "-d", str(gathering)), "downloading wheels")
        if "pycuda" in carried:
            log(f"building PyCUDA {PYCUDA} from source: one to two minutes")
            if not toolchain.header_dir("curand.h"):
                install_for_gpu()
            build_pycuda(interpreter, gathering)
        gathering.replace(folder)
    wheels = sorted(folder.glob("*.whl"))
    log(f"{len(wheels)} wheels, {sum(path.stat().st_size for path in wheels) / 2**20:.1f} MiB, in {folder}")
    return wheels


def read_locks() -> dict[str, list[str]]:
    """Return the entries of all three locks by package: for all, for a GPU, for tests."""
    names = "requirements.lock", "requirements-gpu.lock", "requirements-test.lock"
    locks = [read_lock((kernels.root() / name).read_text(encoding="utf-8")) for name in names]
    return locks[2] | locks[1] | locks[0]


def read_lock(text: str) -> dict[str, list[str]]:
    """Return the entries of a requirements.lock by package: several if the version depends on Python's version."""
    lock: dict[str, list[str]] = {}
    for entry in re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]:
        lock.setdefault(_name(entry), []).append(entry)
    return lock


def _name(entry: str) -> str:
    """Return the name or pattern at the start of a line, normalised as on PyPI; "" for a comment."""
    return canonicalize_name(re.split(r"[\s=<>!~\[;@#]", entry.strip())[0])
