"""Helpers that the commands share: options, checks before any work, and the output of results."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from fourways import files, toolchain

console = Console()
errors = Console(stderr=True)


@contextmanager
def refusing(option: str | None = None) -> Iterator[None]:
    """Turn a ValueError in this block into a usage error for `option`, by default the option being parsed."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def writable(file: Path | None) -> Path | None:
    """Return `file`, or refuse it before anything is measured, if it cannot be written."""
    with refusing():
        return file and files.check_writable(file)


WayName = StrEnum("WayName", ["nvrtc", "nvcc", "pycuda", "pybind11", "host"])  # as `ways.WAYS` has them
Lessons = Annotated[list[str] | None, typer.Argument(help="Lessons by number or name, e.g. `1` or `doublify`.")]
Kernel = Annotated[str, typer.Argument(help="A lesson's number, a kernel's name, or a path to a .cu or .cuh file.")]
Ways = Annotated[list[WayName] | None, typer.Option("--way", "-w", help="Only this way; may be given several times.")]
Size = Annotated[str, typer.Option(help="Elements, as 1000 or 2^26.")]
CaseFile = Annotated[
    Path | None,
    typer.Option("--case", help="The case of a kernel of your own: its arguments and answer; `fourways check --help`."),
]
Timeout = Annotated[int, typer.Option(help="Seconds that a launch may take while it is checked.", min=1)]
Arch = Annotated[list[str] | None, typer.Option("--arch", "-a", help="As `90` or `sm_90`, or `all`; several times.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the rows here as JSON, too.", callback=writable)]


def chosen(names: Sequence[str] | None) -> list[Any]:
    """Return the named lessons, each once; without names, all lessons and the other pages that run."""
    from fourways import lesson

    return list(dict.fromkeys(map(lesson.find, names))) if names else lesson.lessons_and_pages()


def refuse_missing(asked: Sequence[str] | None, reason_of: Callable[[str], str | None]) -> None:
    """Raise RuntimeError, with the remedy, if one of the ways asked for cannot run here."""
    for way in asked or ():
        if reason := reason_of(way):
            raise RuntimeError(f"{way}: {reason}")


def parse_sizes(text: str) -> list[int]:
    """Return sizes in elements from `1000`, `2^20`, a list with commas, or `2^10:2^28` for every doubling between.

    Raises ValueError for other texts, and for sizes below 1 or above 2^40.
    """
    sizes: list[int] = []
    for part in text.replace("**", "^").split(","):
        ends = [re.fullmatch(r"\s*(\d{1,15})(?:\^(\d{1,2}))?\s*", end) for end in part.split(":")]
        numbers = [int(end[1]) ** int(end[2] or 1) for end in ends if end]
        if len(numbers) < len(ends) or len(ends) > 2 or numbers[0] < 1 or numbers[0] > numbers[-1]:
            raise ValueError(f"{part!r} is not a size; expected 1000, 2^20, or 2^10:2^28 for every doubling between")
        if numbers[-1] > 2**40:
            raise ValueError(f"{part!r}: no memory holds more than 2^40 elements")
        sizes += [numbers[0] << step for step in range((numbers[-1] // numbers[0]).bit_length())]
    return sizes


def asked_size(text: str) -> int:
    """Return the value of `--size` in elements, and refuse several sizes."""
    with refusing("--size"):
        size, *more = parse_sizes(text)
        if more:
            raise ValueError(f"{text}: one size at a time")
        return size


def keep(file: Path | None, tables: Sequence[Any]) -> None:
    """Write the tables as JSON, if a file is given."""
    if file:
        content = {"stamp": toolchain.stamp(), "tables": {table.name: table.rows for table in tables}}
        files.write_text(file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def say(text: object, style: str = "", to: Console = console) -> None:
    """Print a text as it is, without markup and line breaks of our own, in a style such as `bold`."""
    to.print(str(text), style=style, markup=False, highlight=False, soft_wrap=True)


def tell(text: object, style: str = "") -> None:
    """Print an error or a line on progress to standard error, as `say` does."""
    say(text, style, errors)
