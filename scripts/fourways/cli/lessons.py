"""The commands on lessons and the book: list, open, run, book."""

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
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    from fourways import lesson

    table = Table("lesson", "title", "kernel", "ways", "minutes", box=SIMPLE_HEAD, padding=0)
    for each in lesson.all_lessons():
        ways = ", ".join(each.meta["ways"])
        table.add_row(each.number, escape(each.title), each.meta["kernel"], ways, each.minutes)
    console.print(table)


_FOR_JUPYTERLAB = "fourways.for_jupyterlab"


class OpenCommand(typer.core.TyperCommand):
    """The command `fourways open`, which passes the words after `--` to JupyterLab."""

    def parse_args(self, context: Any, words: list[str]) -> list[str]:
        """Parse the words before `--`, and keep those after it unchanged."""
        end = words.index("--") if "--" in words else len(words)
        context.meta[_FOR_JUPYTERLAB] = words[end + 1 :]
        return super().parse_args(context, words[:end])

    def collect_usage_pieces(self, context: Any) -> list[str]:
        """Add JupyterLab's options to the usage line."""
        return [*super().collect_usage_pieces(context), "[-- JUPYTERLAB OPTIONS]"]


def open_lessons(
    context: typer.Context,
    lessons: Lessons = None,
    folder: Annotated[Path, typer.Option(file_okay=False, help="Where your copies lie.")] = Path("notebooks"),
    ip: Annotated[str | None, typer.Option(help="The address JupyterLab listens at: 0.0.0.0 for all.")] = None,
    port: Annotated[
        int | None, typer.Option(help="JupyterLab's port; by default the first free one from 8888.", min=1, max=65535)
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser: print the address.")] = False,
) -> None:
    """Copy lessons into a folder of your own, as Jupyter notebooks, and open the first in JupyterLab.

    `fourways open 1` opens your copy of lesson 01, and makes it if there is none yet: your work is never overwritten.
    The copies are without the solutions, which the book has. A cell that needs a GPU, where there is none, shows the
    output recorded on one.

    On a server or in a container: `fourways open 1 --ip 0.0.0.0 --port 8888 --no-browser`. JupyterLab prints its
    address, with the token that lets you in. It gets the words behind `--` unchanged, as in
    `fourways open 1 -- --ServerApp.token=mine`.

    JupyterLab runs inside this command: Ctrl-C or `kill` ends both, and the notebooks' kernels.
    """
    from fourways import lesson, toolchain

    asked = chosen(lessons)
    copies = {each: folder / f"{each.slug}.ipynb" for each in asked}
    for path in [path for path in copies.values() if path.exists()]:
        print(f"{files.short(path)}: yours, as you left it; for a fresh copy move it away")
    for path in lesson.export([each for each, path in copies.items() if not path.exists()], folder):
        print(f"{files.short(path)}: a fresh copy")
    if not toolchain.installed("jupyterlab"):
        installs = f"{files.short(Path(sys.executable))} -m pip install jupyterlab"
        raise RuntimeError(f"JupyterLab is not installed; `{installs}`, then the same command again")
    words = _for_jupyterlab(copies[asked[0]], folder, [*context.meta[_FOR_JUPYTERLAB]])
    words += [f"--ip={ip}"] if ip else []
    words += [f"--port={port}"] if port else []
    words += ["--no-browser"] if no_browser else []
    os.environ |= toolchain.child_environment()  # for the notebooks' kernels
    if not any("base_url" in word for word in words):
        os.environ[lesson.BOOK] = "/static"  # the path of the book in JupyterLab
    for ending in (signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(ending) is not signal.SIG_IGN:  # nohup sets SIG_IGN
            signal.signal(ending, lambda *_: signal.raise_signal(signal.SIGTERM))  # JupyterLab then ends its kernels
    from jupyterlab.labapp import main

    sys.stdout.flush()
    raise typer.Exit(main(words))


def _for_jupyterlab(notebook: Path, folder: Path, asked: list[str]) -> list[str]:
    """Return JupyterLab's arguments that open a notebook in `folder`, after the words `asked` for by the user."""
    words = [str(notebook.resolve()), *asked]
    if os.geteuid() == 0 and "--allow-root" not in words:
        words.append("--allow-root")
        print("You are root, which JupyterLab refuses by itself: it gets --allow-root.")
    if not any("root_dir" in word for word in words):
        in_clone = folder.resolve().is_relative_to(kernels.root())
        root = kernels.root() if in_clone else folder.resolve()  # links of notebooks lead to the clone's folders
        words.append(f"--ServerApp.root_dir={root}")
        if not any("default_url" in word for word in words):
            opened = notebook.resolve().relative_to(root.resolve()).as_posix()
            words.append(f"--LabApp.default_url=/lab/tree/{quote(opened)}")  # JupyterLab prints it as its address
    return [*words, f"--ServerApp.extra_static_paths={kernels.root() / 'build' / 'book'}"]


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

    Without names, a lesson is kept as it ran before, if it passed and its text, kernels, packages and tools are the
    same. To run it all the same, name it.

    `fourways run -j 4` tries all lessons on a GPU in a few minutes, four at a time, which spoils the measured times.
    After a run on your own GPU, one lesson at a time, `fourways book` shows your outputs. `--record` keeps them in
    `book/recorded`. It starts three times as many fresh processes, so it takes longer and its ranges are narrower.
    """
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from fourways import lesson

    if record and jobs and jobs > 1:
        raise typer.BadParameter("a recording measures, so its lessons run one at a time: leave out --jobs")
    asked, keep = chosen(lessons), not (lessons or record)
    done: list[lesson.LessonRun] = []
    good: list[bool] = []
    columns = (SpinnerColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=errors, disable=not errors.is_terminal) as progress:
        line = progress.add_task("lessons", total=len(asked))

        def show(target: Any, number: int, total: int) -> None:
            progress.update(line, description=f"{target.slug}, cell {number} of {total}")

        def ended(result: lesson.LessonRun) -> None:
            done.append(result)
            progress.advance(line)
            good.append(_tell_ended(result, record))

        if not errors.is_terminal:
            tell(f"lessons to run: {len(asked)}, at a time: {jobs or lesson.at_once()}; one takes up to a minute")
        try:
            results = lesson.run_all(asked, show, ended, timeout, record=record, jobs=1 if record else jobs, keep=keep)
        except lesson.Interrupted as interrupted:
            _tell_interrupted(interrupted, asked, done)
            raise typer.Exit(128 + interrupted.signal) from None
    console.print(lesson.outcomes(results))
    if then_book:
        book(context)
    raise typer.Exit(0 if all(good) else 1)


def _tell_ended(result: Any, record: bool) -> bool:
    """Print a lesson's outcome, record it if asked, and return whether all went well."""
    if not errors.is_terminal:
        tell(f"{result.lesson.slug}: {result.outcome}" + ("" if result.kept else f" in {result.seconds:.0f} s"))
    if result.error:
        tell(f"{result.lesson.slug} failed in {result.error}", "red")
        return False
    return _record(result) if record else True  # at once, because a later lesson may end the run


def _record(result: Any) -> bool:
    """Record a lesson's run for the book, and return whether that succeeded."""
    from fourways import book as books  # imported here, because it loads the linker, the profilers and CUPTI

    try:
        print(f"recorded {files.short(books.record(result))}")
    except (books.RecordingError, OSError) as error:
        tell(error, "red")
        return False
    return True


def _tell_interrupted(interrupted: Any, asked: list[Any], done: list[Any]) -> None:
    """Print the outcomes of the finished lessons, and the command that runs the others."""
    from fourways import lesson

    if done:
        console.print(lesson.outcomes(done))
    numbers = [each.number for each in asked if each not in [result.lesson for result in done]]
    tell(f"{interrupted}: {len(done)} of {len(asked)} lessons done; for the others: fourways run {' '.join(numbers)}")


def book(context: typer.Context) -> None:
    """Build the book from today's text and the recorded outputs; the pages lie in `build/book`.

    `fourways book` needs no GPU. A lesson that `fourways run` has run on this machine's GPU, whole and alone, is shown
    with that run's outputs. Each page names the device.
    """
    from fourways import book as books

    doing = "building the book: up to half a minute"
    if not errors.is_terminal:
        tell(doing)
    with errors.status(doing):
        group = context.find_root().command
        assert isinstance(group, typer.core.TyperGroup)
        index = books.build(group)
    print(f"The book: {files.short(index)}")
