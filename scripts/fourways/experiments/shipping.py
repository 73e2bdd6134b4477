"""The size of the packages that a way needs on a user's machine."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def installed_bytes(*names: str) -> int | None:
    """Return the bytes of all files of these distributions together, or None if one is not installed here."""
    total = 0
    for name in names:
        try:
            files = distribution(name).files
        except PackageNotFoundError:
            return None
        if files is None:  # installed without a list of its files
            return None
        paths = [Path(str(each.locate())) for each in files]
        total += sum(path.stat().st_size for path in paths if path.is_file())
    return total
