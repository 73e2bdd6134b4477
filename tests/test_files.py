"""Files are written whole or not at all, refused before the work rather than after it, and shown as short paths."""

import os
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
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="no space left"):
        files.write_bytes(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_what_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (Path("x.svg"), Path("new/folder/x.svg"), tmp_path / "x.svg"):
        assert files.check_writable(path) == path
    assert list(tmp_path.iterdir()) == [], "asking makes nothing"


def test_what_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="is a folder; name a file in it"):
        files.check_writable(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"x\.svg: nothing can be written in .*/file"):
        files.check_writable(tmp_path / "file" / "x.svg")
    monkeypatch.setattr(os, "access", lambda folder, mode: False)  # as for anybody but root
    with pytest.raises(ValueError, match="nothing can be written in"):
        files.check_writable(tmp_path / "new" / "x.svg")


def test_plain_text_has_no_colours() -> None:
    assert files.plain("\x1b[31mred\x1b[0m and \x1b[1;32mgreen\x1b[0m [31m") == "red and green [31m"


def test_paths_are_short_below_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert files.short(tmp_path / "a" / "b") == Path("a/b")
    assert files.short(tmp_path.parent / "c") == tmp_path.parent / "c"


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("FOURWAYS_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert files.cache_dir() == tmp_path / ".cache" / "fourways"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert files.cache_dir() == Path("/xdg/fourways")
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", "/mine")
    assert files.cache_dir() == Path("/mine")
