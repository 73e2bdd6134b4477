"""The wheelhouse: a folder of wheels for a machine without network."""

import fnmatch
import functools
import re
import tempfile
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

from packaging.requirements import Requirement
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
    `have` lists the packages that it has, one per entry: `numpy`, `numpy==2.5.2` as `pip freeze` prints it, or a
    pattern such as `nvidia-*`. Comments are ignored, and so are versions that pyproject.toml refuses.
    The folder gets all other packages of the three locks, with their hashes checked, except DESK_TOOLS. PyCUDA is built
    here. CUDA's toolkit comes whole or not at all, because nvcc finds its headers and libraries only in its own folder.
    `folder` must be empty or missing, and is written whole or not at all. Raises InstallError.

    Install on the other machine: `python3 -m pip install --no-index --no-deps FOLDER/*.whl`.
    """
    folder = Path(folder).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InstallError(f"{folder} is there already and not empty: remove it, or name another folder")
    interpreter = find_python(python)
    lock = read_locks()
    had = [re.sub(r"(^|\s)#.*", "", entry).strip() for entry in have]
    carried = _carried({*lock, "pycuda"}, _toolkit(lock), had, log)
    entries = [text for name, texts in sorted(lock.items()) if name in carried for text in texts]
    # A marker may exclude all entries of the other packages.
    direct = carried & {canonicalize_name(each.name) for each in _requirements() if not each.marker} - {"pycuda"}
    log(f"gathering wheels for {interpreter}: half a gigabyte if nothing is left out")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
        gathering, wanted = Path(work, "wheels"), Path(work, "wanted.txt")
        gathering.mkdir()
        wanted.write_text("".join(entries), encoding="utf-8")
        if entries:
            options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(wanted)]
            run(pip(interpreter, "download", *options, "-d", str(gathering)), "downloading wheels")
        if "pycuda" in carried:
            log(f"building PyCUDA {PYCUDA} from source: one to two minutes")
            if not toolchain.header_dirs("curand.h", ""):
                install_for_gpu()
            build_pycuda(interpreter, gathering)
        gathered = {canonicalize_name(path.name.split("-")[0]) for path in gathering.glob("*.whl")}
        if absent := sorted(direct - gathered):
            raise InstallError(f"requirements.lock holds nothing for Python {python} of: {', '.join(absent)}")
        gathering.replace(folder)
    wheels = sorted(folder.glob("*.whl"))
    log(f"{len(wheels)} wheels, {sum(path.stat().st_size for path in wheels) / 2**20:.1f} MiB, in {folder}")
    return wheels


def _carried(names: set[str], toolkit: set[str], have: list[str], log: Callable[[str], None]) -> set[str]:
    """Return the packages of `names` that a machine with `have` lacks, and log the surprising ones."""
    refused = {entry: requirement for entry in have if (requirement := _refused(entry))}
    patterns = {_pattern(entry) for entry in have if entry not in refused} | {*DESK_TOOLS}
    carried = {name for name in names if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)}
    for entry, requirement in refused.items():
        if _pattern(entry) in carried:
            log(f"carried although that machine has {entry}: pyproject.toml asks for {requirement}")
    if toolkit & carried and not toolkit <= carried:
        log(
            f"CUDA's toolkit is carried whole, because that machine lacks {', '.join(sorted(toolkit & carried))}. "
            "If it has CUDA 13.0 in /usr/local/cuda, add the line nvidia-* to the list of --have"
        )
        carried |= toolkit
    return carried


def _refused(entry: str) -> Requirement | None:
    """Return the requirement in pyproject.toml that an entry's version does not satisfy, or None."""
    pinned = re.search(r"==\s*([\w.+!]+)", entry)
    if pinned:
        for requirement in _requirements():
            named = canonicalize_name(requirement.name) == _pattern(entry)
            if named and not requirement.specifier.contains(pinned[1], prereleases=True):
                return requirement
    return None


@functools.cache
def _requirements() -> list[Requirement]:
    """Return the requirements in pyproject.toml, those of all extras too."""
    project = tomllib.loads((kernels.root() / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(map(Requirement, sum(project["optional-dependencies"].values(), project["dependencies"])))


def _toolkit(lock: dict[str, list[str]]) -> set[str]:
    """Return the packages of CUDA's toolkit: those that the lock lists as requirements of `cuda-toolkit`."""
    return {name for name, texts in lock.items() if re.search(r"^ +#.* cuda-toolkit$", "".join(texts), re.MULTILINE)}


def read_locks() -> dict[str, list[str]]:
    """Return the entries of all three locks by package: for all, for a GPU, for tests."""
    names = "requirements.lock", "requirements-gpu.lock", "requirements-test.lock"
    locks = [read_lock((kernels.root() / name).read_text(encoding="utf-8")) for name in names]
    return locks[2] | locks[1] | locks[0]


def read_lock(text: str) -> dict[str, list[str]]:
    """Return the entries of a requirements.lock by package: several if the version depends on Python's version."""
    lock: dict[str, list[str]] = {}
    for entry in re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]:
        lock.setdefault(_pattern(entry), []).append(entry)
    return lock


def _pattern(entry: str) -> str:
    """Return the name or pattern at the start of an entry of a lock or of `--have`, normalised as on PyPI."""
    return canonicalize_name(re.split(r"[\s=<>!~\[;@]", entry.strip())[0])
