"""The needs of a cell (a GPU, a way, a package), and the reason why it is skipped where one of them is missing."""

import re
from typing import Any

from fourways import toolchain, ways
from fourways.lesson import recorded
from fourways.lesson.notebook import tags

MAGIC = "%%needs"
"""The first word of an exported cell that has needs: `%%needs gpu`, `%%needs pycuda`."""


def needs(cell: Any) -> list[str]:
    """Return the needs in a code cell's tags: "gpu" and "two-gpus", and ways and packages of `way-…` and `needs-…`."""
    named = [tag.removeprefix("way-").removeprefix("needs-") for tag in tags(cell)]
    return [need for need in named if need in ("gpu", "two-gpus", *ways.WAYS, *toolchain.PACKAGES)]


def skip_reason(cell: Any) -> str | None:
    """Return why this code cell cannot run on this machine, with the remedy, or None."""
    return _reason(needs(cell))


def load_ipython_extension(shell: Any) -> None:
    """Make cells that begin with `%%needs` run only where nothing is missing: `%load_ext fourways.lesson`.

    Elsewhere such a cell says what is missing, and shows what was recorded of it in the lesson that its first line
    names: `%%needs gpu  # recorded in 01_doublify`.
    """
    shell.input_transformers_cleanup.append(_without_needs)
    shell.register_magic_function(_skip, "cell", MAGIC.removeprefix("%%"))


def _without_needs(lines: list[str]) -> list[str]:
    """Return the lines of a cell without `%%needs ...`, if nothing is missing; else unchanged."""
    if lines and lines[0].split()[:1] == [MAGIC] and not _reason(_named(lines[0].removeprefix(MAGIC))):
        return lines[1:]
    return lines


def _skip(line: str, code: str) -> None:
    """Run the magic `%%needs` for a cell that lacks something: say what, and show the recorded outputs."""
    print(f"Skipped: {_reason(_named(line))}")
    if lesson := re.search(r"# recorded in (\w+)", line):
        recorded.show(lesson[1], code)


def _named(line: str) -> list[str]:
    return line.partition("#")[0].split()


def _reason(wanted: list[str]) -> str | None:
    return next(
        (reason for need in wanted if (reason := ways.missing(need) if need in ways.WAYS else toolchain.missing(need))),
        None,
    )
