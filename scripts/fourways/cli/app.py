"""The command `fourways`: its subcommands, and the exit code of an error.

The subcommands import most packages only where they call them, so that `--help` is fast, `fourways doctor` works
without NumPy, and `fourways run` loads no profiler, linker or book.
"""

import codecs
import io
import sys

import typer

from fourways.cli import case, choose, classes, kernels, lessons, machine, measure, package, profile, timeline
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
app.command("open", cls=lessons.OpenCommand)(lessons.open_lessons)
for command in (
    machine.doctor,
    lessons.run,
    measure.check,
    measure.time,
    kernels.build,
    kernels.signature,
    case.case,
    kernels.link,
    package.package,
    profile.profile,
    timeline.timeline,
    choose.choose,
    lessons.book,
    classes.export,
    machine.install_pycuda,
    machine.wheelhouse,
):
    app.command()(command)


_PLAIN = {"–": "-", "µ": "u", "×": "x", "→": ">", "…": "~", "“": '"', "”": '"', "‘": "'", "’": "'"}


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Signs that the output's encoding has not, in those that every encoding has."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(_PLAIN.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


def main() -> None:
    """Run the command. A user's mistake ends with a message and no traceback; exit code 2 for bad arguments, else 1."""
    codecs.register_error("plainly", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plainly")
    try:
        app()
    except Exception as error:
        from fourways import checking
        from fourways.kernels import InputError

        if not isinstance(error, (InputError, checking.CheckFailure, OSError, RuntimeError)):
            raise
        tell(error, "red")
        raise SystemExit(2 if isinstance(error, InputError) else 1) from None
