"""The commands on lessons and the book: list, open, run, book, export."""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer
import typer.core

from fourways import files, kernels
from fourways.cli.options import Lessons, chosen, console, errors, tell


def list_lessons() -> None:
    """List the lessons: number, title, kernel, ways, minutes.

    `fourways list` gives the numbers that the other commands take, as in `fourways run 1`.
    """
    from fourways import lesson, tables

    rows: list[tables.Row] = [
        {"lesson": each.number, "title": each.title, "kernel": each.meta["kernel"], "minutes": each.minutes}
        | {"ways": ", ".join(each.meta["ways"])}
        for each in lesson.all_lessons()
    ]
    console.print(tables.Table("lessons", rows, ["lesson", "title", "kernel", "ways", "minutes"]))


def open_lessons(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS", help="Lessons by number or name, e.g. `1`, and JupyterLab's own options."),
    ] = None,
    folder: Annotated[Path, typer.Option(file_okay=False, help="Where your copies lie.")] = Path("notebooks"),
) -> None:
    """Copy lessons into a folder of your own, as Jupyter notebooks, and open the first in JupyterLab.

    `fourways open 1` opens your copy of lesson 01, and makes it if there is none yet: your work is never overwritten.
    The copies are without the solutions, which the book has. A cell that needs a GPU, where there is none, shows the
    output recorded on one.

    JupyterLab gets all other options, which need an `=` before their value. On a server or in a container:
    `fourways open 1 --ip=0.0.0.0 --port=8888 --no-browser`. JupyterLab prints its address, with the token that lets
    you in.

    JupyterLab runs inside this command: Ctrl-C or `kill` ends both, and the notebooks' kernels.
    """
    from fourways import lesson, toolchain

    options = [word for word in words or () if word.startswith("-")]
    asked = chosen([word for word in words or () if word not in options])
    copies = {each: folder / f"{each.slug}.ipynb" for each in asked}
    for path in [path for path in copies.values() if path.exists()]:
        print(f"{files.short(path)}: yours, as you left it; for a fresh copy move it away")
    for path in lesson.export([each for each, path in copies.items() if not path.exists()], folder):
        print(f"{files.short(path)}: a fresh copy")
    if not toolchain.installed("jupyterlab"):
        installs = f"{files.short(Path(sys.executable))} -m pip install jupyterlab"
        raise RuntimeError(f"JupyterLab is not installed; `{installs}`, then the same command again")
    given = _for_jupyterlab(copies[asked[0]].resolve())
    os.environ |= toolchain.child_environment()  # for the notebooks' kernels
    for ending in (signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(ending) is not signal.SIG_IGN:  # nohup sets SIG_IGN
            signal.signal(ending, lambda *_: signal.raise_signal(signal.SIGTERM))  # JupyterLab then ends its kernels
    from jupyterlab.labapp import main

    sys.stdout.flush()
    raise typer.Exit(main([*given, *options]))


def _for_jupyterlab(notebook: Path) -> list[str]:
    """Return JupyterLab's arguments that open a notebook, and make its links to the clone's folders work."""
    clone = kernels.root().resolve()
    root = clone if notebook.is_relative_to(clone) else notebook.parent
    address = f"/lab/tree/{quote(notebook.relative_to(root).as_posix())}"  # which JupyterLab prints
    given = [str(notebook), f"--ServerApp.root_dir={root}", f"--LabApp.default_url={address}"]
    if os.geteuid() == 0:
        print("You are root, which JupyterLab refuses by itself: it gets --allow-root.")
        given.append("--allow-root")
    return given


def run(
    context: typer.Context,
    lessons: Lessons = None,
    record: Annotated[
        bool, typer.Option("--record", help="Keep the outputs for the book: only complete runs on a GPU.")
    ] = False,
    then_book: Annotated[bool, typer.Option("--book", help="Build the book afterwards.")] = False,
    timeout: Annotated[int, typer.Option(help="Seconds that one cell may take.", min=1)] = 600,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Lessons at a time. On a GPU the default is 1: they measure."),
    ] = None,
) -> None:
    """Execute lessons cell by cell; what needs a GPU or a missing package is skipped, with the reason.

    `fourways run 1` runs lesson 01; `fourways run --book` runs all and builds the book. A lesson that fails does not
    stop the others; the exit code is 1 if any failed. Executed notebooks lie in `build/lessons`.

    `fourways run -j 4` tries all lessons on a GPU in a few minutes, four at a time, which spoils the measured times.
    After a run on your own GPU, one lesson at a time, `fourways book` shows your outputs. `--record` keeps them in
    `book/recorded`.
    """
    from fourways import lesson

    if record and jobs and jobs > 1:
        raise typer.BadParameter("a recording measures, so its lessons run one at a time: leave out --jobs")
    asked = chosen(lessons)
    done: list[lesson.LessonRun] = []
    good: list[bool] = []

    def ended(result: lesson.LessonRun) -> None:
        done.append(result)
        good.append(_tell_ended(result, record))

    tell(f"lessons to run: {len(asked)}, at a time: {jobs or lesson.at_once()}; one takes up to a minute")
    with errors.status("starting") as status:

        def show(target: lesson.Lesson, number: int, total: int) -> None:
            status.update(f"{target.slug}, cell {number} of {total}")

        try:
            results = lesson.run_all(asked, show, ended, timeout, jobs=1 if record else jobs)
        except KeyboardInterrupt:
            if done:
                console.print(lesson.outcomes(done))
            others = " ".join(each.number for each in asked if each not in [result.lesson for result in done])
            tell(f"interrupted: {len(done)} of {len(asked)} lessons done; for the others: fourways run {others}")
            raise typer.Exit(128 + signal.SIGINT) from None
    console.print(lesson.outcomes(results))
    if then_book:
        book(context)
    raise typer.Exit(0 if all(good) else 1)


def _tell_ended(result: Any, record: bool) -> bool:
    """Print a lesson's outcome, record it if asked, and return whether all went well."""
    tell(f"{result.lesson.slug}: {result.outcome} in {result.seconds:.0f} s")
    if result.error:
        tell(f"{result.lesson.slug} failed in {result.error}", "red")
        return False
    if record:  # at once, because a later lesson may end the run
        from fourways import book as books  # imported here, because it loads much that a run does not need

        try:
            print(f"recorded {files.short(books.record(result))}")
        except (RuntimeError, OSError) as error:
            tell(error, "red")
            return False
    return True


def book(context: typer.Context) -> None:
    """Build the book from today's text and the recorded outputs; the pages lie in `build/book`.

    `fourways book` needs no GPU. A lesson that `fourways run` has run on this machine's GPU, whole and alone, is shown
    with that run's outputs. Each page names the device.
    """
    from fourways import book as books

    tell("building the book: up to half a minute")
    group = context.find_root().command
    assert isinstance(group, typer.core.TyperGroup)
    print(f"The book: {files.short(books.build(group))}")


def export(
    lessons: Lessons = None,
    student: Annotated[
        Path | None, typer.Option(file_okay=False, help="The folder for notebooks without solutions.")
    ] = None,
    solutions: Annotated[Path | None, typer.Option(file_okay=False, help="The folder for notebooks with them.")] = None,
    graded: Annotated[
        bool, typer.Option("--graded", help="With `--solutions`, for nbgrader: mark each exercise, and add a test.")
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
