"""A Python project in a folder, its wheel, and builds by CMake."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from fourways import toolchain
from fourways.building import BuildError
from fourways.tables import Row


class Project:
    """A folder with a Python project, and a folder `site` beside it for what is installed.

    Both are deleted with this object.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="fourways-")
        self._root, self.site = Path(self._folder.name, "project"), Path(self._folder.name, "site")

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file of the project: a text, or bytes as they are."""
        file = self._root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.lstrip("\n").encode())


def wheel_rows(wheel: Path) -> list[Row]:
    """Return a row for a wheel and for each of its files, with `bytes`."""
    with zipfile.ZipFile(wheel) as packed:
        files = [(wheel.name, wheel.stat().st_size), *((each.filename, each.file_size) for each in packed.infolist())]
    return [{"file": name, "bytes": size} for name, size in files]


def build_with_cmake(source: Path, folder: Path, options: Sequence[str], failure: str) -> None:
    """Build in `folder` what the CMakeLists.txt of `source` describes, for release, for this Python with its pybind11.

    CMake is configured with `options` unless `folder` holds a CMakeCache.txt. Calling again rebuilds what has changed.
    Raises BuildError, which says `failure` and CMake's own words, from where it failed.
    """
    import pybind11

    commands = [["--build", str(folder)]]
    if not (folder / "CMakeCache.txt").exists():
        ours = [f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]
        words = ["-GNinja", "-DCMAKE_BUILD_TYPE=Release", *ours, *options]
        commands.insert(0, ["-S", str(source), "-B", str(folder), *words])
    environment = os.environ | toolchain.variables()
    # the wheels' cmake and ninja come first
    environment["PATH"] = f"{sysconfig.get_path('scripts')}{os.pathsep}{environment['PATH']}"
    for command in commands:
        done = subprocess.run(["cmake", *command], env=environment, capture_output=True, text=True, errors="replace")
        if done.returncode:
            if "-S" in command:  # CMake's cached findings may be wrong: the next call starts anew
                (folder / "CMakeCache.txt").unlink(missing_ok=True)
                shutil.rmtree(folder / "CMakeFiles", ignore_errors=True)
            said = done.stdout + done.stderr
            failed = re.search("^(CMake Error|FAILED)", said, re.MULTILINE)  # the lines before report successes
            raise BuildError(failure, said[failed.start() if failed else 0 :])
