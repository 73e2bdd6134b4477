"""The C++ compiler's cached output, valid until its command, the source text or an included header changes."""

import hashlib
import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fourways import files


class Refusal(RuntimeError):
    """The compiler's own words."""


def compiled(unit: str, compiler: Path, command: Sequence[str], folder: Path, suffix: str = "bin") -> Path:
    """Return the file that the compiler's `command`, run in `folder`, makes of a translation unit, cached or fresh.

    `<key>.json` lists the headers that the unit included when last compiled. The compiled file is named by the key
    and those headers' present contents, so a changed header leads to another name, and no file is ever rewritten.
    Raises Refusal; OSError where the cache cannot be written.
    """
    binary = compiler.resolve()
    identity = [str(binary), binary.stat().st_size, binary.stat().st_mtime_ns]  # its version would take a process
    key = hashlib.sha256(json.dumps([unit, str(compiler), *command, str(folder), identity]).encode()).hexdigest()
    cache = files.cache_dir()
    manifest = cache / f"{key}.json"
    if manifest.exists():
        built = _named_by_contents(cache, key, json.loads(manifest.read_text(encoding="utf-8")), suffix)
        if built and built.exists():
            return built
    try:
        cache.mkdir(parents=True, exist_ok=True)
        building = tempfile.TemporaryDirectory(dir=cache, prefix="building-")
    except OSError as error:
        hint = "set FOURWAYS_CACHE_DIR to a folder that can be written"
        raise OSError(f"compiled kernels cannot be kept in {cache} ({error.strerror}): {hint}") from error
    with building as temporary:
        fresh, listing, names = (Path(temporary) / name for name in ("built", "listing", "names"))
        output = ("-o", str(fresh), "-MD", "-MF", str(listing), "-MT", "built")
        done = subprocess.run([str(compiler), *command, *output], input=unit.encode(), capture_output=True, cwd=folder)
        if done.returncode:
            raise Refusal(done.stderr.decode(errors="replace").strip())
        included = _parse_listing(listing.read_text(encoding="utf-8"), folder)
        built = _named_by_contents(cache, key, included, suffix)
        assert built, "a header vanished while the compiler ran"
        names.write_text(json.dumps(included), encoding="utf-8")
        fresh.replace(built)
        names.replace(manifest)
    return built


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
