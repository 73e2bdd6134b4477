"""Files are written whole or not at all, refused before the work rather than after it, and shown as short paths."""

import errno
from pathlib import Path

import pytest

from fourways import files


def test_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file.txt"
    files.write_text(path, "größer\n")
    assert path.read_bytes() == "größer\n".encode()
    with pytest.raises(UnicodeEncodeError):
        files.write_text(path, "new \ud800")
    assert path.read_bytes() == "größer\n".encode()
    assert list(path.parent.iterdir()) == [path]


def test_a_disk_that_fills_up_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    files.write_bytes(path, b"old")

    def half(self: Path, content: bytes) -> None:
        self.open("wb").write(content[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        files.write_bytes(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("FOURWAYS_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert files.cache_dir() == tmp_path / ".cache" / "fourways"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert files.cache_dir() == Path("/xdg/fourways")
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", "/mine")
    assert files.cache_dir() == Path("/mine")
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", "relative")
    assert files.cache_dir() == Path.cwd() / "relative", "compilers run in other folders"
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", "~/mine")
    assert files.cache_dir() == tmp_path / "mine"


def test_a_kept_source_is_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", str(tmp_path))
    text = "__global__ void kernel() {}"
    path = files.source_file(text)
    path.write_text("")
    assert files.source_file(text) == path and path.read_text() == text
