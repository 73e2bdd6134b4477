"""What the commands share: their options, what is refused before any work, and how results are printed and kept."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from fourways import files, kernels, toolchain

console = Console()
errors = Console(stderr=True)


@contextmanager
def refusing(option: str | None = None) -> Iterator[None]:
    """A ValueError in this block is the user's: a bad value of `option`, or of the option that is being read."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def writable(file: Path | None) -> Path | None:
    """Refuse a file that cannot be written, before anything is measured."""
    with refusing():
        return file and files.check_writable(file)


def drawable(file: Path | None) -> Path | None:
    """Refuse a figure that cannot be written, before anything is measured."""
    from fourways import figures

    with refusing():
        return file and files.check_writable(figures.check_suffix(file))


Lessons = Annotated[list[str] | None, typer.Argument(help="Lessons by number or name, e.g. `1` or `doublify`.")]
Kernel = Annotated[str, typer.Argument(help="A lesson's number, a kernel's name, or a path to a .cu or .cuh file.")]
Ways = Annotated[list[str] | None, typer.Option("--way", "-w", help="Only this way; may be given several times.")]
Size = Annotated[str, typer.Option(help="Elements, as 1000 or 2^26.")]
Entry = Annotated[str | None, typer.Option(help="The kernel in a file of your own, if it holds several.")]
CaseFile = Annotated[
    Path | None,
    typer.Option("--case", help="What a kernel of your own is called with: `fourways case my.cu` writes one."),
]
Reference = Annotated[
    str | None,
    typer.Option(help="The right answer for a file of your own, in place of its case's: `expected.py:function`."),
]
Timeout = Annotated[int, typer.Option(help="Seconds that a launch may take while it is checked.", min=1)]
Arch = Annotated[list[str] | None, typer.Option("--arch", "-a", help="As `90` or `sm_90`, or `all`; several times.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the rows here as JSON, too.", callback=writable)]
FigureFile = Annotated[
    Path | None, typer.Option("--figure", help="Draw it: the .svg or .png file to write.", callback=drawable)
]


def chosen(names: Sequence[str] | None) -> list[Any]:
    """The lessons named, each once; without names all, and the pages beside them."""
    from fourways import lesson

    return list(dict.fromkeys(map(lesson.find, names))) if names else [*lesson.all_lessons(), *lesson.pages()]


def target(
    name: str,
    entry: str | None = None,
    case: Path | None = None,
    reference: str | None = None,
    timeout: int = 60,
) -> Any:
    """The lesson or the kernel of one's own that is meant; the options are for the latter alone."""
    from fourways import lesson

    found = lesson.lesson_or_case(name, entry, case, reference, timeout)
    given = {"--entry": entry, "--case": case, "--reference": reference}
    if isinstance(found, lesson.Lesson) and (unfit := [option for option, value in given.items() if value]):
        raise typer.BadParameter("it is for a file of your own", param_hint=unfit[0])
    return found


def one_of(asked: Sequence[str] | None, known: Sequence[str], option: str) -> None:
    """Refuse what is not among the known."""
    if unknown := [name for name in asked or () if name not in known]:
        raise typer.BadParameter(f"{unknown[0]!r}; choose from {', '.join(known)}", param_hint=option)


def asked_size(text: str) -> int:
    """`--size`, parsed: one size."""
    from fourways import timing

    with refusing("--size"):
        size, *more = timing.parse_sizes(text)
        if more:
            raise ValueError(f"{text}: one size at a time")
        return size


def keep(file: Path | None, found: Sequence[Any], figure_file: Path | None, figure: Callable[[], Any]) -> None:
    """Write what was asked for, whole or not at all: first the tables as JSON, then the figure that `figure()` makes.

    What a failure must not take along is kept before it is raised; `keeping` is for a measurement that goes on.
    """
    from fourways import figures

    _write(file, found)
    if figure_file:
        figures.save(figure(), figure_file)


@contextmanager
def keeping(file: Path | None) -> Iterator[list[Any]]:
    """Write as JSON the tables that this block has put into the list: at its end, and where it fails or is interrupted.

    The file of a block that failed says so, under `failure`.
    """
    found: list[Any] = []
    try:
        yield found
    except BaseException as error:
        if found:
            _write(file, found, failure=str(error) or type(error).__name__)
        raise
    _write(file, found)


def _write(file: Path | None, found: Sequence[Any], **more: str) -> None:
    if file:
        rows = {table.name: table.rows for table in found}
        files.write_text(file, files.results(toolchain.stamp(), rows, **more))


def tell(text: object, style: str = "") -> None:
    """Print an error, or a line about what is going on, on standard error: as it is, in a style such as `red`."""
    errors.print(str(text), style=style, markup=False, highlight=False, soft_wrap=True)


def find_home() -> None:
    """Where this user's home cannot be written, take `build/home`: without one CuPy does not even import."""
    if not os.access(os.environ.get("HOME", ""), os.W_OK):
        home = kernels.root() / "build" / "home"
        home.mkdir(parents=True, exist_ok=True)
        os.environ["HOME"] = str(home)
        tell(f"no home folder that can be written: caches go to {files.short(home)}")
