"""A Python project in a folder, its wheel, and a module that is imported from its file."""

import importlib.util
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

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


def imported(name: str, file: Path) -> ModuleType:
    """Import an extension module from its file, and return it. The same file under another name is another module."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
