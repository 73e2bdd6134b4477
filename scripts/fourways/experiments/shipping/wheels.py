"""The wheel of a project, and the file that pip takes of those that a package offers."""

import shutil
import sys
from collections.abc import Mapping, Sequence

from packaging import tags
from packaging.utils import parse_wheel_filename

from fourways import process
from fourways.experiments import projects
from fourways.tables import Row, Table


class Project(projects.Project):
    """A Python project, whose wheel is unpacked into its `site`, as pip would do."""

    def wheel(self) -> Table:
        """Build the project's wheel by the hook that pip calls, unpack it, and return its files with their bytes.

        Raises RuntimeError if the hook fails.
        """
        hook = "from scikit_build_core.build import build_wheel; build_wheel('dist')"
        process.output(sys.executable, "-c", hook, folder=self._root)
        (wheel,) = (self._root / "dist").glob("*.whl")
        shutil.unpack_archive(wheel, self.site, "zip")
        return Table("wheel", projects.wheel_rows(wheel), ["bytes", "file"])


_USERS = {
    "Linux of 2024 (glibc 2.39)": [f"manylinux_2_{minor}_x86_64" for minor in range(39, 16, -1)],
    "Linux of 2014 (glibc 2.17)": ["manylinux_2_17_x86_64"],
    "Windows": ["win_amd64"],
}


def which_file(offered: Mapping[str, Sequence[str]], versions: Sequence[tuple[int, int]]) -> Table:
    """Return which of the offered files pip takes, by package, for users of three systems and of Python `versions`.

    A package's files are wheels and sdists (`.tar.gz`), by name. pip takes the first wheel in the order of the user's
    tags, and an sdist only if no wheel fits.
    """
    rows: list[Row] = []
    for system, platforms in _USERS.items():
        for version in versions:
            told = [*tags.cpython_tags(version, platforms=platforms)]
            told += tags.compatible_tags(version, f"cp{version[0]}{version[1]}", platforms)
            chosen = {package: _chosen(files, told) for package, files in offered.items()}
            rows.append({"system": system, "Python": f"{version[0]}.{version[1]}"} | chosen)
    return Table("which_file", rows)


def _chosen(files: Sequence[str], told: Sequence[tags.Tag]) -> str:
    wheels = {file: parse_wheel_filename(file)[3] for file in files if file.endswith(".whl")}
    fitting = [file for tag in told for file, its in wheels.items() if tag in its]
    return next(iter(fitting), "sdist: compiles" if len(wheels) < len(files) else "an error")
