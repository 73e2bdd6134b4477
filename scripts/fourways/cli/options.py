"""What the commands share: their options, what is refused before any work, and how results are printed and kept."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

console = Console(soft_wrap=False)
errors = Console(stderr=True)


def writable(file: Path | None) -> Path | None:
    """Refuse a file that cannot be written, before anything is measured."""
    from fourways import files

    try:
        return file and files.check_writable(file)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def drawable(file: Path | None) -> Path | None:
    """Refuse a figure that cannot be written, before anything is measured."""
    from fourways import figures

    try:
        return writable(file and figures.check_suffix(file))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


Lessons = Annotated[list[str] | None, typer.Argument(help="Lessons by number or name, e.g. `1` or `doublify`.")]
Kernel = Annotated[str, typer.Argument(help="A lesson's number, a kernel's name, or a path to a .cu or .cuh file.")]
Way = Annotated[list[str] | None, typer.Option("--way", "-w", help="Only this way; may be given several times.")]
Entry = Annotated[str | None, typer.Option(help="The kernel in a file of your own, if it holds several.")]
Reference = Annotated[
    str | None,
    typer.Option(help="The right answer for a file of your own: `expected.py:function`. Default: the host way's."),
]
Size = Annotated[str, typer.Option(help="Elements, as 1000 or 2^26.")]
Arch = Annotated[list[str] | None, typer.Option("--arch", "-a", help="As `90` or `sm_90`, or `all`; several times.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the rows here as JSON, too.", callback=writable)]
FigureFile = Annotated[
    Path | None, typer.Option("--figure", help="Draw it: the .svg or .png file to write.", callback=drawable)
]


def chosen(names: Sequence[str] | None) -> list[Any]:
    """The lessons named, each once; without names all."""
    from fourways import lesson

    if names:
        return list({found.slug: found for found in map(lesson.find, names)}.values())
    return lesson.all_lessons()


def one_of(asked: Sequence[str], known: Sequence[str], option: str) -> None:
    """Refuse what is not among the known, by its first word."""
    if unknown := [name for name in asked if name.split()[:1] not in [[each] for each in known]]:
        raise typer.BadParameter(f"{unknown[0]!r}; choose from {', '.join(known)}", param_hint=option)


def asked_sizes(text: str, option: str = "--sizes") -> list[int]:
    """Sizes in elements, parsed; what is wrong with them is a bad parameter."""
    from fourways import timing

    try:
        return timing.parse_sizes(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def asked_size(text: str) -> int:
    """`--size`, parsed: one size."""
    size, *more = asked_sizes(text, "--size")
    if more:
        raise typer.BadParameter(f"{text}: one size at a time", param_hint="--size")
    return size


def draw(file: Path | None, figure: Callable[[], Any]) -> None:
    """Write the figure that `figure()` makes to a file, if one was asked for."""
    if file is not None:
        from fourways import figures

        figures.save(figure(), file)


def save(file: Path | None, tables: Sequence) -> None:
    """Write tables to a JSON file, whole or not at all: `{"stamp": {...}, "tables": {name: rows}}`."""
    if file is not None:
        from fourways import files, toolchain

        content = {"stamp": toolchain.stamp(), "tables": {table.name: table.rows for table in tables}}
        files.write_text(file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def complain(error: object) -> None:
    """Print an error for people, in red."""
    errors.print(str(error), style="red", markup=False, highlight=False, soft_wrap=True)


def tell(text: str) -> None:
    """Print a line about what is going on, on standard error."""
    errors.print(text, markup=False, highlight=False, soft_wrap=True)
