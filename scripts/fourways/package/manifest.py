"""The file `.fourways.json` of a package: which files `fourways package` wrote, so that it can write them again."""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

FILE = ".fourways.json"


class Manifest(NamedTuple):
    """The name of a package, and the SHA-256 of each file as it was written, by path."""

    name: str
    files: dict[str, str]


def read(folder: Path) -> Manifest | None:
    """The manifest of a folder. Raises ValueError for one that is broken."""
    file = folder / FILE
    if not file.is_file():
        return None
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        return Manifest(str(manifest["name"]), {str(path): str(digest) for path, digest in manifest["files"].items()})
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{file} cannot be understood: name a new folder") from None


def place(made: Path, folder: Path, name: str, before: Path, force: bool) -> list[str]:
    """Bring the files of the package `made` to `folder`, all or none; return those left as somebody has edited them.

    The files that were there are moved to `before`, and back if something fails. `force` writes over edited files, too.
    """
    there = read(folder)
    old = there.files if there else {}
    new = {str(path.relative_to(made)): _digest(path) for path in sorted(made.rglob("*")) if path.is_file()}
    now = {path: _digest(folder / path) for path in {*old, *new} if (folder / path).is_file()}
    edited = [path for path in sorted(now) if now[path] not in (old.get(path), new.get(path))]
    kept = [] if force else edited
    # a kept file keeps the digest of its last written text, so it still counts as edited
    files = new | {path: old[path] for path in kept if path in old}
    (made / FILE).write_text(json.dumps({"name": name, "files": files}, indent=1) + "\n", encoding="utf-8")
    if there is None:
        made.replace(folder)  # the folder is missing or empty
        return []
    moves = [(folder / path, before / path) for path in (*now, FILE) if path not in kept]
    moves += [(made / path, folder / path) for path in (*new, FILE) if path not in kept]
    done: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
            done.append((target, source))
    except BaseException:  # Ctrl-C, too
        for source, target in reversed(done):
            source.rename(target)
        raise
    return kept


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
