"""Files and texts, for everybody: whole or not at all, without colours, with short paths."""

import os
import re
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: to a temporary neighbour first, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(path: Path) -> Path:
    """`path`, if a file can be written there; else ValueError: before a long measurement rather than after it."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it")
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise ValueError(f"{path}: nothing can be written in {above}")
    return path


def plain(text: str) -> str:
    """`text` without a terminal's colour codes."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def short(path: Path) -> Path:
    """`path` as seen from the current folder, where it lies below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def cache_dir() -> Path:
    """Where Four Ways keeps what it compiled: `FOURWAYS_CACHE_DIR`, or `fourways` in the user's cache folder."""
    named = os.environ.get("FOURWAYS_CACHE_DIR")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "fourways"
