"""The commands that run a kernel's ways: `fourways check` and `fourways time`."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from fourways import kernels
from fourways.cli import options


def check(lessons: options.Lessons = None, way: options.Ways = None) -> None:
    """Check that every way gives the right answer at every awkward size, for the lessons named (default: all).

    `fourways check 1 --way host` checks lesson 01 on the CPU. Outputs are poisoned first, NaN fails.
    """
    from fourways import checking, lesson

    options.one_of(way, lesson.WAYS, "--way")
    failed = False
    for found in options.chosen(lessons):
        ways = _only(lesson.load(found), way, found.meta["ways"])
        options.console.print(found.slug, style="bold", highlight=False)
        try:
            options.console.print(checking.check(ways))
        except checking.CheckFailure as error:
            failed = True
            options.tell(error, "red")
    raise typer.Exit(1 if failed else 0)


def time(
    kernel: Annotated[str, typer.Argument(help="A lesson's number or name, or a .cu or .cuh file of your own.")],
    way: options.Ways = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes", "--size", help="Elements: `2^20`, `1000,2000`, `2^10:2^28`. Default 2^26, on a CPU 2^22."
        ),
    ] = None,
    first: Annotated[bool, typer.Option("--first", help="Time process start to first result instead.")] = False,
    entry: Annotated[str | None, typer.Option(help="The kernel in a file of your own, if it holds several.")] = None,
    reference: Annotated[
        str | None,
        typer.Option(help="The right answer for a file of your own: `expected.py:function`. Default: the host way's."),
    ] = None,
    json_file: options.Json = None,
    figure: options.FigureFile = None,
) -> None:
    """Time the ways of a kernel side by side: warm, with a cold L2 cache, and the two costs of a launch.

    `fourways time 1` times lesson 01. `fourways time 1 --sizes 2^10:2^28 --figure sizes.svg` does so at every doubling
    and draws bytes/s against size, below the rate of a plain copy on the GPU.

    `fourways time 1 --first` takes the first result apart, in fresh processes with cold and warm caches.

    `fourways time my.cu --entry mine` times a kernel `mine(const float *x, float *y, long long n)` of your own.

    Nothing is timed whose answer is wrong. Every row says by which clock it is: the GPU's (device) or the host's.
    """
    from fourways import lesson, timing

    options.one_of(way, lesson.WAYS, "--way")
    with options.refusing("--sizes"):
        elements = timing.parse_sizes(sizes) if sizes else []
    if first and sizes:
        raise typer.BadParameter("a first result is timed at one size, the lesson's", param_hint="--sizes")
    if kernels.is_file(kernel):
        if first:
            raise typer.BadParameter("a first result is that of a lesson", param_hint="--first")
        case = lesson.Case(kernel, entry, reference)
        name, ways = case.path.name, _only(case.ways(way or ()), way, lesson.WAYS)
    elif entry or reference:
        raise typer.BadParameter("it is for a file of your own", param_hint="--entry" if entry else "--reference")
    else:
        found = lesson.find(kernel)
        name, ways = found.slug, _only(lesson.load(found), way, found.meta["ways"])
    options.console.print(name, style="bold", markup=False, highlight=False)
    with options.errors.status("timing") as status:
        if first:
            table = timing.first_results(name, tuple(ways.runnable))
        elif elements:
            table = timing.time_sizes(ways, elements, lambda text: status.update(f"timing {text}"))
        else:
            table = timing.compare(ways)
    if not table.rows:
        reasons = [f"{way}: {reason}" for way, reason in ways.missing.items()]
        raise RuntimeError(f"nothing was timed: {table.note or '; '.join(reasons)}")
    options.console.print(table)
    for line in () if first else timing.warnings(table.rows):
        options.tell(f"Doubtful: {line}", "yellow")
    figure_of = timing.first_result_figure if first else timing.figure
    table.rows = [row | {"kernel": ways.kernel} for row in table.rows]
    options.keep(json_file, [table], figure, lambda: figure_of(table.rows, ways.kernel))


def _only(ways: Any, asked: Sequence[str] | None, otherwise: Sequence[str]) -> Any:
    """Those of `ways` that were asked for, each of which must be able to run here; or, if none was, `otherwise`."""
    for way in asked or ():
        if reason := ways.missing.get(way):
            raise RuntimeError(f"{way}: {reason}")
    return ways.only(asked or otherwise)
