"""A Python project in a folder, and its wheel."""

import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

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
