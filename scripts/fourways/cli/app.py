"""The command `fourways`: its subcommands, and the exit code of an error.

The subcommands import most packages only where they call them, so that `--help` is fast, `fourways doctor` works
without NumPy, and `fourways run` loads no profiler, linker or book.
"""

import contextlib
import signal
import sys

import typer

from fourways.cli import kernels, lessons, machine, measure, programs
from fourways.cli.options import find_home, tell

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
    find_home()


app.command("list")(lessons.list_lessons)
app.command("open", context_settings={"ignore_unknown_options": True})(lessons.open_lessons)  # JupyterLab's
for command in (
    machine.doctor,
    lessons.run,
    measure.check,
    measure.time,
    kernels.build,
    kernels.link,
    kernels.package,
    programs.profile,
    programs.timeline,
    lessons.book,
    lessons.export,
    machine.install_pycuda,
    machine.wheelhouse,
):
    app.command()(command)


def main() -> None:
    """Run the command. A user's mistake ends with a message and no traceback; exit code 2 for bad arguments, else 1.

    SIGTERM and SIGHUP end what the command has started, and leave no temporary folder.
    """
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="replace")  # type: ignore[attr-defined]  # signs that the terminal's encoding lacks
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup sets SIG_IGN
            signal.signal(number, _end)
    try:
        app()
    except Exception as error:
        from fourways import checking
        from fourways.kernels import InputError

        if not isinstance(error, (InputError, checking.CheckFailure, OSError, RuntimeError)):
            raise
        tell(error, "red")
        raise SystemExit(2 if isinstance(error, InputError) else 1) from None


def _end(number: int, _: object) -> None:
    import psutil

    started = psutil.Process().children(recursive=True)
    for process in started:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    psutil.wait_procs(started, timeout=3)  # a compiler deletes its own temporary files
    sys.exit(128 + number)
