"""The command `fourways choose`."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer
from rich.prompt import Confirm, IntPrompt, Prompt

from fourways.cli.options import FigureFile, Json, Ways, console, keep, one_of, refusing

_first = partial(typer.Option, rich_help_panel="What decides first")
_then = partial(typer.Option, rich_help_panel="Then the time")
_Text = Literal["fixed", "run-time"]
_Callers = Literal["me", "class", "strangers", "plug-in"]
_Compiler = Literal["none", "nvrtc", "nvcc"]
_Gpus = Literal["known", "unknown", "newer"]
_CHOICES = {"text": _Text, "callers": _Callers, "compiler": _Compiler, "gpus": _Gpus}


def choose(
    context: typer.Context,
    text: Annotated[
        _Text, _first(help="When is the kernel's text known? A formula that users type: run-time.")
    ] = "fixed",
    callers: Annotated[
        _Callers, _first(help="Who calls it; strangers install it by pip, a plug-in host takes code.")
    ] = "me",
    compiler: Annotated[
        _Compiler | None,
        _first(
            help="The compiler on their machines: nvrtc is a wheel, nvcc is the CUDA Toolkit with a C++ compiler. "
            "Default: nvcc for me and a class, else nvrtc."
        ),
    ] = None,
    gpus: Annotated[
        _Gpus | None,
        _first(help="Their GPUs; newer: than your CUDA Toolkit. Default: known for me and a class, else unknown."),
    ] = None,
    pythons: Annotated[int, _first(min=1, help="Versions of Python that they have.")] = 1,
    systems: Annotated[int, _first(min=1, help="Operating systems that they have.")] = 1,
    nodes: Annotated[int, _first(min=1, help="Machines that start a run at once.")] = 1,
    sharing: Annotated[int, _first(min=1, help="Processes on one GPU.")] = 1,
    within: Annotated[
        str | None, _first(help="The first result must come within this time after a process starts, as 50ms.")
    ] = None,
    offline: Annotated[bool, _first("--offline", help="Their machines have no internet.")] = False,
    kernel: Annotated[str, _then(help="How long the GPU works on one launch: 30us or 0.2ms.")] = "30us",
    launches: Annotated[int, _then(min=0, help="Launches in a run of the program, after its first.")] = 200,
    runs: Annotated[int, _then(min=1, help="Runs of the program in a day.")] = 100,
    cold: Annotated[int, _then(min=0, help="The number of these runs that find nothing built.")] = 1,
    edits: Annotated[int, _then(min=0, help="How often in a day the kernel changes and is built.")] = 0,
    way: Ways = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(
            "--results",
            "-r",
            help="Your own measurements, several times; default: the book's, of lessons 00 and 01.",
        ),
    ] = None,
    json_file: Json = None,
    figure: FigureFile = None,
) -> None:
    """Which way for your program? Answered from constraints and measurements: needs no GPU, and runs no kernel.

    `fourways choose` asks in a terminal. Constraints decide first: they rule ways out, each with its reason. Then time
    decides: differences within the spread of the measurements, or below a minute a day, count as none.

    `fourways choose --callers strangers --pythons 4` is about a library that strangers install by pip.

    `fourways choose --kernel 2us --launches 100000 --runs 1 --figure choose.svg` draws total time against launches.

    `fourways choose -r first.json` uses your own machine's numbers, which `fourways time 1 --first --json first.json`
    wrote.
    """
    from fourways import choosing

    given: dict[str, Any] = {"text": text, "callers": callers, "compiler": compiler, "gpus": gpus, "nodes": nodes}
    given |= {"pythons": pythons, "systems": systems, "sharing": sharing, "within": within, "offline": offline}
    program: dict[str, Any] = {"kernel": kernel, "launches": launches, "runs": runs, "cold": cold, "edits": edits}
    if sys.stdin.isatty() and all(_is_default(context, name) for name in (*given, *program, "way", "results")):
        _ask(context, given, program)
    with refusing("--kernel"):
        seconds = choosing.parse_seconds(program.pop("kernel"))
    with refusing("--within"):
        given["within"] = choosing.parse_seconds(given["within"]) if given["within"] else None
    with refusing("--results"):
        costs = choosing.costs(*(results or choosing.recorded()))
    one_of(way, list(costs), "--way")
    chosen = {name: cost for name, cost in costs.items() if not way or name in way}
    situation = choosing.Situation(**{name: value for name, value in given.items() if value is not None})
    with refusing():
        advice = choosing.advise(situation, chosen, seconds, cold_runs=program.pop("cold"), among=way or (), **program)
    for sentence in advice.sentences:
        console.print(sentence, highlight=False)
    shown = [table for table in (advice.times, advice.out) if table and table.rows]
    for table in shown:
        console.print()
        console.print(table)
    told = choosing.advice_table([{"sentence": sentence} for sentence in advice.sentences])
    left = {row["way"] for row in advice.times.rows} if advice.times else set()
    drawn = {name: cost for name, cost in chosen.items() if name in left} or chosen
    keep(json_file, [told, *shown], figure, lambda: choosing.figure(drawn, seconds))


def _is_default(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is None or source.name == "DEFAULT"


def _ask(context: typer.Context, *answers: dict[str, Any]) -> None:
    """Ask for each value in the words of the option's help; Enter takes the default."""
    from fourways import choosing

    helps = {option.name: getattr(option, "help", "") for option in context.command.params}
    for values in answers:
        for name, value in values.items():
            default = getattr(choosing.Situation(callers=answers[0]["callers"]), name) if value is None else value
            kind: Any = Confirm if isinstance(default, bool) else IntPrompt if isinstance(default, int) else Prompt
            choices = list(get_args(_CHOICES.get(name))) or None
            values[name] = kind.ask(helps[name], console=console, choices=choices, default=default)
