"""The C++ compiler's cached output, valid until its command, the source text or an included header changes."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fourways import files


class Refusal(RuntimeError):
    """The compiler's own words."""


def compiled(unit: str, compiler: Path, command: Sequence[str], folder: Path, suffix: str = "bin") -> Path:
    """Return the file that the compiler's `command`, run in `folder`, makes of a translation unit, cached or fresh.

    `<key>.json` lists the headers that the unit included when last compiled, and the SHA-256 of each compiled file.
    A compiled file is named by the key and those headers' present contents, so a changed header leads to another name,
    and no file that somebody may run is ever deleted or rewritten: a whole one takes the place of a damaged one.
    Raises Refusal; OSError where the cache cannot be used.
    """
    binary = compiler.resolve()
    identity = [str(binary), binary.stat().st_size, binary.stat().st_mtime_ns]  # its version would take a process
    key = hashlib.sha256(json.dumps([unit, str(compiler), *command, str(folder), identity]).encode()).hexdigest()
    cache = files.own_cache_dir()
    manifest = cache / f"{key}.json"
    headers, sums = _manifest(manifest)
    built = _named_by_contents(cache, key, headers, suffix)
    if built and built.name in sums and _sum(built) == sums[built.name] and os.access(built, os.X_OK):
        return built
    with tempfile.TemporaryDirectory(dir=files.own_cache_dir(to_write=True), prefix="building-") as temporary:
        fresh, listing = (Path(temporary) / name for name in ("built", "listing"))
        output = ("-o", str(fresh), "-MD", "-MF", str(listing), "-MT", "built")
        done = subprocess.run([str(compiler), *command, *output], input=unit.encode(), capture_output=True, cwd=folder)
        words = done.stderr.decode(errors="replace").strip()
        if "No space left on device" in words:
            raise OSError(
                f"the C++ compiler finds no space left in {cache} or {tempfile.gettempdir()}: make room there"
            )
        if done.returncode:
            raise Refusal(words)
        if not (fresh.is_file() and listing.is_file()):
            raise OSError(f"{compiler} compiles nothing, so it is no C++ compiler: set CXX to one")
        included = _parse_listing(listing.read_text(encoding="utf-8"), folder)
        built = _named_by_contents(cache, key, included, suffix)
        assert built, "a header vanished while the compiler ran"
        for place in filter(Path.is_dir, (built, manifest)):  # whatever else has the name is replaced
            shutil.rmtree(place)
        fresh.chmod(0o700)
        sums[built.name] = _sum(fresh)
        fresh.replace(built)
        files.write_text(manifest, json.dumps([included, sums]))
    if not os.access(built, os.X_OK):
        why = f"no program can be run in {cache}, whose file system may be mounted noexec"
        raise OSError(f"{why}: set FOURWAYS_CACHE_DIR to a folder elsewhere")
    _make_room(cache)
    return built


def _read(file: Path) -> bytes | None:
    """Return what a file of ours holds, and note its use; None if something else, or nothing, has its name."""
    try:
        state = file.lstat()
        if not stat.S_ISREG(state.st_mode) or state.st_uid != os.geteuid():
            return None
        content = file.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):  # a cache that can only be read
        os.utime(file)
    return content


def _sum(file: Path) -> str | None:
    content = _read(file)
    return None if content is None else hashlib.sha256(content).hexdigest()


def _manifest(file: Path) -> tuple[list[str], dict[str, str | None]]:
    """Return the headers and the sums that a manifest lists; none where it cannot be read."""
    try:
        headers, sums = json.loads(_read(file) or b"")
        return list(map(str, headers)), dict(sums)
    except (ValueError, TypeError):
        return [], {}


def _make_room(cache: Path) -> None:
    """Keep the cache within its bound, and delete what killed compilers left."""
    files.sweep(cache, "building-")
    entries = files.cache_entries()
    excess = sum(size for _, size, _ in entries) - files.CACHE_BYTES
    for _, size, path in entries:
        if excess > 0:
            with contextlib.suppress(FileNotFoundError):  # another process may delete it
                (shutil.rmtree if path.is_dir() else Path.unlink)(path)
            excess -= size


def _named_by_contents(cache: Path, key: str, included: list[str], suffix: str) -> Path | None:
    digest = hashlib.sha256(key.encode())
    for header in included:
        try:
            digest.update(hashlib.sha256(Path(header).read_bytes()).digest())
        except OSError:
            return None
    return cache / f"{digest.hexdigest()}.{suffix}"


def _parse_listing(listing: str, folder: Path) -> list[str]:
    """The files of a make rule as `-MD` writes it: blanks in a name are escaped, lines end in a backslash."""
    words = re.findall(r"(?:\\.|[^\s\\])+", listing.replace("\\\n", " ").partition(":")[2])
    return [str(folder / word.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$")) for word in words]
