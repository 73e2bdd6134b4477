"""The commands for a class: export, grade."""

from pathlib import Path
from typing import Annotated

import typer
import typer.core

from fourways import files
from fourways.cli.options import CaseFile, Json, Lessons, chosen, console, keeping, tell


def export(
    lessons: Lessons = None,
    student: Annotated[
        Path | None, typer.Option(file_okay=False, help="The folder for notebooks without solutions.")
    ] = None,
    solutions: Annotated[Path | None, typer.Option(file_okay=False, help="The folder for notebooks with them.")] = None,
    graded: Annotated[
        bool, typer.Option("--graded", help="For nbgrader and otter: mark each exercise, and add a test behind it.")
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
    if student and solutions and student.resolve() == solutions.resolve():
        raise typer.BadParameter("notebooks with and without solutions need two folders", param_hint="--solutions")
    for folder, with_solutions in ((student, False), (solutions, True)):
        for path in lesson.export(chosen(lessons), folder, with_solutions, graded) if folder else ():
            print(f"wrote {files.short(path)}")


def grade(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FOLDER", help="Handed-in notebooks and .cu files, or folders.")
    ],
    case: CaseFile = None,
    timeout: Annotated[int, typer.Option(help="Seconds of CPU time that one answer may use.", min=1)] = 120,
    memory: Annotated[float, typer.Option(help="GiB of memory that one answer may take.", min=0.1)] = 4.0,
    json_file: Json = None,
) -> None:
    """Judge the answers in handed-in notebooks, and the kernels in handed-in .cu files.

    `fourways grade answers` judges every exercise in every notebook of the folder `answers`. The notebooks come from
    `fourways export --student class`, whose exercises have ids; cells may have been added or moved. Each answer runs in
    a fresh process, after the lesson's own cells, and the lesson's own check judges it: the outputs in the notebook,
    and whatever else was changed there, do not count. `fourways grade answers --case triple_case.py` judges .cu files,
    too, as `fourways check` does on the CPU.

    An answer that takes too much time or memory is ended. Its time is CPU time, since a right answer takes longer on a
    busy machine. An answer that only waits is ended after five times as many seconds. With bubblewrap installed (`apt
    install bubblewrap`) an answer writes to a folder of its own alone, and reaches no network. It can read your files
    in any case, and whoever knows the check well can still deceive it: look at the answers of those you doubt.
    """
    from fourways import grading

    files_there = grading.handed_in(paths)
    with keeping(json_file) as kept:
        tell(f"files: {len(files_there)}; an answer takes some seconds")
        limits = grading.Limits(timeout, int(memory * 2**30))
        kept.append(grading.grade(files_there, case, limits, tell))
        console.print(kept[0])
