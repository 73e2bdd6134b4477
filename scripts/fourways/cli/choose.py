"""The command `fourways choose`."""

from pathlib import Path
from typing import Annotated

import typer

from fourways.cli.options import FigureFile, Json, Ways, console, keep, one_of, refusing


def choose(
    kernel: Annotated[str, typer.Option(help="How long the GPU works on one launch, as 30us or 0.2ms.")] = "30us",
    launches: Annotated[int, typer.Option(min=0, help="Launches in a run of the program, after its first.")] = 200,
    runs: Annotated[int, typer.Option(min=1, help="Runs of the program, in a day or a week.")] = 100,
    cold: Annotated[int, typer.Option(min=0, help="The number of these runs that find nothing built.")] = 1,
    edits: Annotated[int, typer.Option(min=0, help="How often the kernel changes and is built again.")] = 0,
    way: Ways = None,
    results: Annotated[
        list[Path] | None,
        typer.Option("--results", "-r", help="Your own measurements, several times; default: the book's."),
    ] = None,
    json_file: Json = None,
    figure: FigureFile = None,
) -> None:
    """Which way for your program? Computed from measurements: needs no GPU, and runs no kernel.

    `fourways choose --kernel 30us --launches 200 --runs 100` compares the ways for a program that launches a kernel of
    30 µs 200 times in each of 100 runs. The best way comes first. "as good" marks ways too near to it to tell.

    `fourways choose --kernel 2us --launches 100000 --runs 1 --figure choose.svg` draws total time against launches.

    `fourways choose -r first.json` uses your own machine's numbers, which `fourways time 1 --first --json first.json`
    wrote.
    """
    from fourways import choosing

    with refusing("--kernel"):
        seconds = choosing.parse_seconds(kernel)
    with refusing("--results"):
        costs = choosing.costs(*(results or choosing.recorded()))
    one_of(way, list(costs), "--way")
    with refusing():
        chosen = {name: cost for name, cost in costs.items() if not way or name in way}
        table = choosing.choose(chosen, seconds, launches, runs, cold, edits)
    console.print(table)
    keep(json_file, [table], figure, lambda: choosing.figure(chosen, seconds))
