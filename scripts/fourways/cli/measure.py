"""The commands that run a kernel's ways: `fourways check` and `fourways time`."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from fourways.cli.options import (
    Entry,
    FigureFile,
    Json,
    Lessons,
    Reference,
    Way,
    asked_sizes,
    chosen,
    complain,
    console,
    draw,
    errors,
    one_of,
    save,
)

Measured = Annotated[str, typer.Argument(help="A lesson's number or name, or a .cu or .cuh file of your own.")]


def check(lessons: Lessons = None, way: Way = None) -> None:
    """Check that every way gives the right answer at every awkward size, for the lessons named (default: all).

    `fourways check 1 --way host` checks lesson 01 on the CPU. Outputs are poisoned first, NaN fails.
    """
    from fourways import checking, lesson

    one_of(way or [], lesson.WAYS, "--way")
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
    from fourways import kernels, lesson, tables, timing

    one_of(way or [], lesson.WAYS, "--way")
    elements = asked_sizes(sizes) if sizes else []
    if first and sizes:
        raise typer.BadParameter("a first result is timed at one size, the lesson's", param_hint="--sizes")
    if kernels.is_file(kernel):
        if first:
            raise typer.BadParameter("a first result is that of a lesson", param_hint="--first")
        case = lesson.Case(kernel, entry, reference)
        name, ways = case.path.name, only(case.ways(way or ()), way)
    elif entry or reference:
        raise typer.BadParameter("it is for a file of your own", param_hint="--entry" if entry else "--reference")
    else:
        found = lesson.find(kernel)
        name, ways = found.slug, loaded(found, way)
    console.print(f"[bold]{name}[/]")
    with errors.status("timing") as status:
        if first:
            table = timing.first_results(name, tuple(ways.runnable))
        elif elements:
            table = timing.time_sizes(ways, elements, lambda text: status.update(f"timing {text}"))
        else:
            table = timing.compare(ways)
    if not table.rows:
        reasons = [f"{way}: {reason}" for way, reason in ways.missing.items()]
        raise RuntimeError(f"nothing was timed: {table.note or '; '.join(reasons)}")
    console.print(table)
    for line in () if first else timing.warnings(table.rows):
        errors.print(f"Doubtful: {line}", style="yellow", markup=False, highlight=False, soft_wrap=True)
    figure_of = timing.first_result_figure if first else timing.figure
    draw(figure, lambda: figure_of(table.rows, ways.kernel))
    save(json_file, [tables.Table(table.name, [row | {"kernel": ways.kernel} for row in table.rows], [])])


def loaded(found: Any, asked: Sequence[str] | None) -> Any:
    """A lesson's ways: those asked for, which must then be able to run here, or all that it has."""
    from fourways import lesson

    ways = lesson.load(found)
    return only(ways, asked) if asked else ways.only(found.meta["ways"])


def only(ways: Any, asked: Sequence[str] | None) -> Any:
    """`ways`, or those asked for. Asking for a way that cannot run fails."""
    for way in asked or []:
        if reason := ways.missing.get(way):
            raise RuntimeError(f"{way}: {reason}")
    return ways.only(asked) if asked else ways
