"""The file of a kernel's text."""

import hashlib
from pathlib import Path

from fourways import files


def source_file(source: str | Path) -> Path:
    """Return the path of a kernel's file. `source` is a path, or the kernel's text, which is kept in a file.

    A text is a `str` with `__global__` in it. It is kept as `kernel.cu` in the cache folder, in a folder of its own, so
    the same text has the same path.
    """
    if "__global__" not in str(source):
        return Path(source)
    text = str(source)
    path = files.cache_dir() / "sources" / hashlib.sha256(text.encode()).hexdigest()[:16] / "kernel.cu"
    if not path.is_file():
        files.write_text(path, text)
    return path
