"""The command `fourways`: parse, call, print."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fourways import cli_measure, cli_profile, cli_tools
from fourways.cli_measure import Lessons, chosen, complain, console, errors

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


@app.callback()
def fourways() -> None:
    """One CUDA kernel, four ways from Python: run, check and time the lessons.

    `fourways list` shows the lessons, `fourways doctor` whether this machine can run them.
    """


@app.command("list")
def list_lessons() -> None:
    """List the lessons: number, title, kernel, ways, minutes."""
    from fourways import lesson, tables

    rows = [{"number": found.number, "title": found.title, **found.meta} for found in lesson.all_lessons()]
    columns: list[tables.Column] = [
        ("lesson", lambda row: row["number"]),
        ("title", lambda row: row["title"]),
        ("kernel", lambda row: row["kernel"]),
        ("ways", lambda row: ", ".join(row["ways"])),
        ("minutes", lambda row: str(row["minutes"])),
    ]
    console.print(tables.Table("lessons", rows, columns))


@app.command()
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False) -> None:
    """Say which compilers, libraries, driver and GPUs are used, whether they fit, and what to do if not.

    Exit code 1 when a lesson could not run.
    """
    from fourways import doctor as doctors

    report = doctors.report()
    if as_json:
        print(report.to_json())
    else:
        console.print(doctors.render(report))
    raise typer.Exit(0 if report.lessons_can_run else 1)


@app.command()
def run(
    lessons: Lessons = None,
    record: Annotated[bool, typer.Option(help="Keep the outputs for the book: only complete runs on a GPU.")] = False,
    book: Annotated[bool, typer.Option(help="Build the book afterwards.")] = False,
    timeout: Annotated[int, typer.Option(help="Seconds that one cell may take.", min=1)] = 600,
) -> None:
    """Execute lessons cell by cell; what needs a GPU or a missing package is skipped, with the reason.

    `fourways run 1` runs lesson 01; `fourways run` runs all. A lesson that fails does not stop the others;
    the exit code is 1 if any failed. Executed notebooks lie in `build/lessons`.

    `FOURWAYS_NVTX=1 nsys profile fourways run 1` names each cell in a profiler; with a tag, as `FOURWAYS_NVTX=measure`,
    CUDA's profiler is also switched on for the cells that carry it.
    """
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from fourways import files, running

    results = []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors) as progress:
        for found in chosen(lessons):
            task = progress.add_task(f"{found.slug}", total=None)

            def show(_: Any, number: int, total: int, task: Any = task) -> None:
                progress.update(task, completed=number - 1, total=total)

            results.append(running.run(found, show, timeout))
            progress.update(task, completed=progress.tasks[task].total)
    failed = [result for result in results if result.error]
    for result in failed:
        complain(f"{result.lesson.slug} failed in {result.error}")
    if record:
        for result in results:
            try:
                for path in running.record(result):
                    console.print(f"recorded {files.short(path)}", highlight=False)
            except running.RecordingError as error:
                failed.append(result)
                complain(error)
    place = _build_book() if book else None
    console.print(running.summary(results))
    if book:
        console.print(f"The book: {place}" if place else "The book was not built.", soft_wrap=True, highlight=False)
    raise typer.Exit(1 if failed or (book and not place) else 0)


app.command()(cli_measure.check)
app.command()(cli_measure.time)


@app.command()
def book() -> None:
    """Build the book from today's text and the recorded outputs; the pages lie in `build/book`."""
    place = _build_book()
    console.print(f"The book: {place}" if place else "The book was not built.", soft_wrap=True, highlight=False)
    raise typer.Exit(0 if place else 1)


app.command()(cli_tools.build)
app.command()(cli_tools.sass)
app.command()(cli_tools.link)
app.command()(cli_profile.profile)


@app.command()
def export(
    lessons: Lessons = None,
    student: Annotated[
        Path | None, typer.Option(file_okay=False, help="The folder for notebooks without solutions.")
    ] = None,
    solutions: Annotated[Path | None, typer.Option(file_okay=False, help="The folder for notebooks with them.")] = None,
) -> None:
    """Write lessons as Jupyter notebooks for a class, without or with the solutions of the exercises.

    `fourways export --student class` writes all lessons; `fourways export 1 --student class --solutions mine` lesson 01
    twice. A notebook that is there already and differs is never overwritten.
    """
    from fourways import exporting, files

    if not student and not solutions:
        raise typer.BadParameter("name a folder", param_hint="--student or --solutions")
    if student and solutions and student.resolve() == solutions.resolve():
        raise typer.BadParameter("the two kinds of notebooks want two folders", param_hint="--solutions")
    for folder, with_solutions in ((student, False), (solutions, True)):
        for path in exporting.export(chosen(lessons), folder, with_solutions) if folder else ():
            console.print(f"wrote {files.short(path)}", highlight=False, soft_wrap=True)


@app.command("install-pycuda")
def install_pycuda(
    if_driver: Annotated[bool, typer.Option("--if-driver", help="Do nothing where there is no NVIDIA driver.")] = False,
) -> None:
    """Build PyCUDA from source for this environment and install it. It has no wheels; the build takes minutes."""
    from fourways import installing, toolchain

    if if_driver and (reason := toolchain.missing("gpu")):
        errors.print(f"PyCUDA is left out: {reason}", highlight=False, soft_wrap=True)
        return
    installing.install_pycuda(log=_tell)


@app.command()
def wheelhouse(
    folder: Annotated[Path, typer.Argument(help="The folder to write: empty, or not there yet.")],
    python: Annotated[str, typer.Option(help="The Python version of the GPU machine.")] = "3.12",
    have: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="What that machine has: its `pip freeze`, names or patterns such as `nvidia-*`, one a line.",
        ),
    ] = None,
) -> None:
    """Gather the wheels that a GPU machine without network needs, PyCUDA's included. Needs no driver; takes minutes.

    There: `make lessons PYTHON=python3 WHEELHOUSE=folder`.
    """
    from fourways import installing

    there = have.read_text(encoding="utf-8").splitlines() if have else []
    installing.wheelhouse(folder, python=python, have=there, log=_tell)


def _build_book() -> Path | None:
    from fourways import book as books
    from fourways import files, reference

    try:
        with errors.status("building the book"):
            return files.short(books.build(reference.pages(app)))
    except books.BookError as error:
        complain(error)
        return None


def _tell(text: str) -> None:
    errors.print(text, markup=False, highlight=False, soft_wrap=True)


def main() -> None:
    """Run the command. A user's mistake ends in one clear message and no traceback: 2 for bad arguments, else 1."""
    from fourways import lesson
    from fourways.checking import CheckFailure

    try:
        app()
    except lesson.LessonError as error:
        complain(error)
        raise SystemExit(2) from None
    except (CheckFailure, OSError, RuntimeError) as error:
        complain(error)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
