"""The commands on whole lessons, and the book of them: list, run, book, export."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fourways.cli.options import Lessons, chosen, complain, console, errors


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


def run(
    context: typer.Context,
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

    from fourways import book as books
    from fourways import files, lesson

    results = []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors) as progress:
        for found in chosen(lessons):
            task = progress.add_task(f"{found.slug}", total=None)

            def show(_: Any, number: int, total: int, task: Any = task) -> None:
                progress.update(task, completed=number - 1, total=total)

            results.append(lesson.run(found, show, timeout))
            progress.update(task, completed=progress.tasks[task].total)
    failed = [result for result in results if result.error]
    for result in failed:
        complain(f"{result.lesson.slug} failed in {result.error}")
    if record:
        for result in results:
            try:
                for path in books.record(result):
                    console.print(f"recorded {files.short(path)}", highlight=False)
            except books.RecordingError as error:
                failed.append(result)
                complain(error)
    place = _build_book(context) if book else None
    console.print(lesson.outcomes(results))
    if book:
        console.print(f"The book: {place}" if place else "The book was not built.", soft_wrap=True, highlight=False)
    raise typer.Exit(1 if failed or (book and not place) else 0)


def book(context: typer.Context) -> None:
    """Build the book from today's text and the recorded outputs; the pages lie in `build/book`."""
    place = _build_book(context)
    console.print(f"The book: {place}" if place else "The book was not built.", soft_wrap=True, highlight=False)
    raise typer.Exit(0 if place else 1)


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
    from fourways import files, lesson

    if not student and not solutions:
        raise typer.BadParameter("name a folder", param_hint="--student or --solutions")
    if student and solutions and student.resolve() == solutions.resolve():
        raise typer.BadParameter("the two kinds of notebooks want two folders", param_hint="--solutions")
    for folder, with_solutions in ((student, False), (solutions, True)):
        for path in lesson.export(chosen(lessons), folder, with_solutions) if folder else ():
            console.print(f"wrote {files.short(path)}", highlight=False, soft_wrap=True)


def _build_book(context: typer.Context) -> Path | None:
    from fourways import book as books
    from fourways import files

    try:
        with errors.status("building the book"):
            return files.short(books.build(books.pages(context.find_root().command)))
    except books.BookError as error:
        complain(error)
        return None
