"""The commands that run a lesson's ways: `fourways check` and `fourways time`. As in `cli`: parse, call, print."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from fourways.cli_tools import FigureFile, Json, draw, save

console = Console(soft_wrap=False)
errors = Console(stderr=True)

Lessons = Annotated[list[str] | None, typer.Argument(help="Lessons by number or name, e.g. `1` or `doublify`.")]
Measured = Annotated[str, typer.Argument(help="A lesson's number or name, or a .cu or .cuh file of your own.")]
Way = Annotated[list[str] | None, typer.Option("--way", "-w", help="Only this way; may be given several times.")]
Entry = Annotated[str | None, typer.Option(help="The kernel in a file of your own, if it holds several.")]
Reference = Annotated[
    str | None,
    typer.Option(help="The right answer for a file of your own: `expected.py:function`. Default: the host way's."),
]


def check(lessons: Lessons = None, way: Way = None) -> None:
    """Check that every way gives the right answer at every awkward size, for the lessons named (default: all).

    `fourways check 1 --way host` checks lesson 01 on the CPU. Outputs are poisoned first, NaN fails.
    """
    from fourways import checking

    known(way)
    failed = False
    for found in chosen(lessons):
        ways = loaded(found, way)
        console.print(f"[bold]{found.slug}[/]")
        try:
            console.print(checking.check(ways))
        except checking.CheckFailure as error:
            failed = True
            complain(error)
    raise typer.Exit(1 if failed else 0)


def time(
    kernel: Measured,
    way: Way = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes", "--size", help="Elements: `2^20`, `1000,2000`, `2^10:2^28`. Default 2^26, on a CPU 2^22."
        ),
    ] = None,
    first: Annotated[bool, typer.Option("--first", help="Time process start to first result instead.")] = False,
    entry: Entry = None,
    reference: Reference = None,
    json_file: Json = None,
    figure: FigureFile = None,
) -> None:
    """Time the ways of a kernel side by side: warm, with a cold L2 cache, and the two costs of a launch.

    `fourways time 1` times lesson 01. `fourways time 1 --sizes 2^10:2^28 --figure sizes.svg` does so at every doubling
    and draws bytes/s against size, below the rate of a plain copy on the GPU.

    `fourways time 1 --first` takes the first result apart, in fresh processes with cold and warm caches.

    `fourways time my.cu --entry mine` times a kernel `mine(const float *x, float *y, long long n)` of your own.

    Nothing is timed whose answer is wrong. Every row says by which clock it is: the GPU's (device) or the host's.
    """
    from fourways import first_result, lesson, own_kernel, tables, timing

    known(way)
    elements, found = asked_sizes(sizes) if sizes else [], None
    if first and sizes:
        raise typer.BadParameter("a first result is timed at one size, the lesson's", param_hint="--sizes")
    if own_kernel.is_file(kernel):
        if first:
            raise typer.BadParameter("a first result is that of a lesson", param_hint="--first")
        lesson.kernel_file(kernel)
        name, ways = Path(kernel).name, only(own_kernel.ways(Path(kernel), entry, reference, way), way)
    elif entry or reference:
        raise typer.BadParameter("it is for a file of your own", param_hint="--entry" if entry else "--reference")
    else:
        found = lesson.find(kernel)
        name, ways = found.slug, loaded(found, way)
    console.print(f"[bold]{name}[/]")
    with errors.status("timing") as status:

        def progress(text: str) -> None:
            status.update(f"timing {text}")

        if found and first:
            table = first_result.compare(found.number, ways=tuple(ways.runnable))
        elif elements:
            table = timing.table(timing.time_sizes(ways, elements, progress))
        else:
            table = timing.compare(ways)
    if not table.rows:
        reasons = [f"{way}: {reason}" for way, reason in ways.missing.items()]
        raise RuntimeError(f"nothing was timed: {table.note or '; '.join(reasons)}")
    console.print(table)
    for line in () if first else timing.warnings(table.rows):
        errors.print(f"Doubtful: {line}", style="yellow", markup=False, highlight=False, soft_wrap=True)
    title = f"{ways.kernel}: bytes per second by size"
    draw(figure, lambda: first_result.figure(table.rows, ways.kernel) if first else timing.figure(table.rows, title))
    save(json_file, [tables.Table(table.name, [row | {"kernel": ways.kernel} for row in table.rows], [])])


def asked_sizes(text: str) -> list[int]:
    """`--sizes`, parsed; what is wrong with it is a bad parameter."""
    from fourways import timing

    try:
        return timing.parse_sizes(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--sizes") from None


def chosen(names: Sequence[str] | None) -> list[Any]:
    """The lessons named, each once; without names all."""
    from fourways import lesson

    if names:
        return list({found.slug: found for found in map(lesson.find, names)}.values())
    return lesson.all_lessons()


def loaded(found: Any, asked: Sequence[str] | None) -> Any:
    """A lesson's ways, reduced to the ways asked for."""
    from fourways import lesson

    return only(lesson.load(found), asked or found.meta["ways"], strict=bool(asked))


def known(asked: Sequence[str] | None) -> None:
    """Refuse ways that there are not."""
    from fourways import lesson

    if unknown := set(asked or []) - set(lesson.WAYS):
        raise typer.BadParameter(f"{', '.join(unknown)}; choose from {', '.join(lesson.WAYS)}", param_hint="--way")


def only(ways: Any, asked: Sequence[str] | None, strict: bool = True) -> Any:
    """`ways` reduced to those asked for. With `strict`, asking for a way that cannot run fails."""
    for way in asked or [] if strict else []:
        if reason := ways.missing.get(way):
            raise RuntimeError(f"{way}: {reason}")
    if asked:
        ways.functions = {way: function for way, function in ways.functions.items() if way in asked}
        ways.missing = {way: reason for way, reason in ways.missing.items() if way in asked}
    return ways


def complain(error: object) -> None:
    """Print an error for people, in red."""
    errors.print(str(error), style="red", markup=False, highlight=False, soft_wrap=True)
