"""Small helpers for files and texts: atomic writes, texts without colours, short paths, the cache."""

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
import threading
import time
from pathlib import Path

CACHE_BYTES = 2**30
"""The bound of the folder `cache_dir()`, in bytes: what was not used for longest goes first."""


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: to a temporary neighbour first, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error  # a full disk's error names no file
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(path: Path) -> Path:
    """Return `path` if a file can be written there, else raise ValueError. Call it before a long measurement."""
    folder = path.absolute().parent
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it")
    if not folder.is_dir():
        raise ValueError(f"{path}: there is no folder {folder}; make it first, or name another")
    try:
        tempfile.TemporaryFile(dir=folder).close()  # only trying shows what even root may not do
    except OSError as error:
        raise ValueError(f"{path}: nothing can be written in {folder} ({error.strerror}); name another") from None
    return path


def plain(text: str) -> str:
    """Return `text` without a terminal's colour codes."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def short(path: Path) -> Path:
    """Return `path` relative to the current folder if it lies below that, else unchanged."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def cache_dir() -> Path:
    """Return the folder for compiled code: `FOURWAYS_CACHE_DIR`, or `fourways` in the user's cache folder."""
    named = os.environ.get("FOURWAYS_CACHE_DIR")
    folder = Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "fourways")
    return folder.expanduser().absolute()


def own_cache_dir(to_write: bool = False) -> Path:
    """Return the folder for compiled code, and make it if it is not there. What lies in it is run.

    Raises OSError if it cannot be made, or written with `to_write`, and if it belongs to another user.
    """
    folder, hint = cache_dir(), "set FOURWAYS_CACHE_DIR to a folder of your own that can be written"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if to_write:
            tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise OSError(f"compiled kernels cannot be kept in {folder} ({error.strerror}): {hint}") from None
    if folder.stat().st_uid != os.geteuid():
        raise OSError(f"compiled kernels cannot be kept in {folder}, which belongs to another user: {hint}")
    return folder


def sweep(folder: Path, prefix: str) -> None:
    """Delete the temporary folders `prefix…` in `folder` that are older than a day: a killed command left them."""
    for left in folder.glob(f"{prefix}*"):
        with contextlib.suppress(FileNotFoundError):  # another process may delete it
            if left.lstat().st_mtime < time.time() - 24 * 3600:
                shutil.rmtree(left, ignore_errors=True)


def source_file(source: str | Path) -> Path:
    """Return the path of a kernel's file. `source` is a path, or the kernel's text, which is kept in a file.

    A text is a `str` with `__global__` in it. It is kept as `kernel.cu` in a folder of the cache that is its own.
    """
    if isinstance(source, Path) or "__global__" not in source:
        return Path(source)
    text = source
    path = own_cache_dir() / "sources" / hashlib.sha256(text.encode()).hexdigest()[:16] / "kernel.cu"
    if not path.is_file() or path.read_bytes() != text.encode():  # a full disk, or another user, may have spoiled it
        write_text(path, text)
    return path
