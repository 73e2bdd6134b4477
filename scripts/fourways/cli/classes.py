"""The command for a class: export."""

from pathlib import Path
from typing import Annotated

import typer
import typer.core

from fourways import files
from fourways.cli.options import Lessons, chosen


def export(
    lessons: Lessons = None,
    student: Annotated[
        Path | None, typer.Option(file_okay=False, help="The folder for notebooks without solutions.")
    ] = None,
    solutions: Annotated[Path | None, typer.Option(file_okay=False, help="The folder for notebooks with them.")] = None,
    graded: Annotated[
        bool, typer.Option("--graded", help="With --solutions, for nbgrader: mark each exercise, and add a test.")
    ] = False,
) -> None:
    """Write lessons as Jupyter notebooks for a class, without or with the solutions of the exercises.

    `fourways export --student class` writes all lessons; `fourways export 1 --student class --solutions mine` lesson 01
    twice. A notebook that is there already and differs is never overwritten.

    `fourways export 1 --solutions source/01 --graded` writes a source for nbgrader: `nbgrader generate_assignment 01`
    makes the learners' notebook of it, without the solutions.
    """
    from fourways import lesson

    if not student and not solutions:
        raise typer.BadParameter("name a folder", param_hint="--student or --solutions")
    if graded and not solutions:
        raise typer.BadParameter("nbgrader's source holds the solutions: add --solutions", param_hint="--graded")
    if student and solutions and student.resolve() == solutions.resolve():
        raise typer.BadParameter("notebooks with and without solutions need two folders", param_hint="--solutions")
    for folder, with_solutions in ((student, False), (solutions, True)):
        for path in lesson.export(chosen(lessons), folder, with_solutions, with_solutions and graded) if folder else ():
            print(f"wrote {files.short(path)}")
