"""What a cell needs, and what becomes of it where that is missing: skipped, with the reason."""

from typing import Any

from fourways import toolchain
from fourways.lesson.notebook import tags
from fourways.lesson.ways import WAYS

MAGIC = "%%needs"
"""First word of a notebook's cell that needs more than Python: `%%needs gpu`, `%%needs pycuda`."""


def needs(cell: Any) -> list[str]:
    """What a code cell's tags name: "gpu" by the tag `gpu`, a way or a package by `way-NAME` or `needs-NAME`."""
    named = [tag.removeprefix("way-").removeprefix("needs-") for tag in tags(cell)]
    return [need for need in named if need in ("gpu", "two-gpus", *WAYS, *toolchain.PACKAGES)]


def skip_reason(cell: Any) -> str | None:
    """Why this code cell cannot run on this machine, with the remedy, or None."""
    return _reason(needs(cell))


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext fourways.lesson`: a cell that begins with `%%needs` runs where it can, or says what is missing."""
    shell.input_transformers_cleanup.append(_met_or_said)


def _met_or_said(lines: list[str]) -> list[str]:
    """The cell without its first line, if that is `%%needs ...`; where something is missing, a cell that says so."""
    if not lines or lines[0].split()[:1] != [MAGIC]:
        return lines
    reason = _reason(lines[0].split()[1:])
    return [f"print({f'Skipped: {reason}'!r})\n"] if reason else lines[1:]


def _reason(wanted: list[str]) -> str | None:
    return next((reason for need in wanted if (reason := toolchain.missing(need))), None)
