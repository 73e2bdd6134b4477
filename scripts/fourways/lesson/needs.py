"""What a cell needs, and what becomes of it where that is missing: skipped, with the reason."""

import re
from typing import Any

from fourways import toolchain, ways
from fourways.lesson import recorded
from fourways.lesson.notebook import tags

MAGIC = "%%needs"
"""First word of a notebook's cell that needs more than Python: `%%needs gpu`, `%%needs pycuda`."""


def needs(cell: Any) -> list[str]:
    """What a code cell's tags name: "gpu" by the tag `gpu`, a way or a package by `way-NAME` or `needs-NAME`."""
    named = [tag.removeprefix("way-").removeprefix("needs-") for tag in tags(cell)]
    return [need for need in named if need in ("gpu", "two-gpus", *ways.WAYS, *toolchain.PACKAGES)]


def skip_reason(cell: Any) -> str | None:
    """Why this code cell cannot run on this machine, with the remedy, or None."""
    return _reason(needs(cell))


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext fourways.lesson`: a cell that begins with `%%needs` runs where it can.

    Elsewhere it says what is missing. The line may name the cell's place in the book, as
    `%%needs gpu  # in the book: 01_doublify.html#time`; then the cell also shows what was recorded there.
    """
    shell.input_transformers_cleanup.append(_without_needs)
    shell.register_magic_function(_skip, "cell", MAGIC.removeprefix("%%"))


def _without_needs(lines: list[str]) -> list[str]:
    """The cell without its first line, if that is `%%needs ...` and all is there; else the cell as it is."""
    if lines and lines[0].split()[:1] == [MAGIC] and not _reason(_named(lines[0].removeprefix(MAGIC))):
        return lines[1:]
    return lines


def _skip(line: str, code: str) -> None:
    """The magic `%%needs` itself, for a cell that lacks something."""
    print(f"Skipped: {_reason(_named(line))}")
    if place := re.search(r"# .*?(\w+)\.html#([\w-]+)", line):
        recorded.show(place[1], place[2], code)


def _named(line: str) -> list[str]:
    return line.partition("#")[0].split()


def _reason(wanted: list[str]) -> str | None:
    return next(
        (reason for need in wanted if (reason := ways.missing(need) if need in ways.WAYS else toolchain.missing(need))),
        None,
    )
