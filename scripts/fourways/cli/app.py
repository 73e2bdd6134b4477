"""The command `fourways`: its subcommands, those on this machine among them, and the exit code of an error.

The subcommands import most packages only where they call them, so that `--help` is fast, `fourways doctor` works
without NumPy, and `fourways run` loads no profiler, linker or book.
"""

import contextlib
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from fourways import toolchain
from fourways.cli import kernels, lessons, measure
from fourways.cli.options import console, tell

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


def doctor() -> None:
    """Say which compilers, libraries, driver and GPUs are used, whether they fit, and what to do if not.

    `fourways doctor` ends with exit code 1 when a lesson could not run.
    """
    from fourways import doctor as doctors

    diagnosis = doctors.diagnose()
    console.print(diagnosis.table())
    raise typer.Exit(0 if diagnosis.lessons_can_run else 1)


def install_pycuda(
    if_driver: Annotated[bool, typer.Option("--if-driver", help="Do nothing where there is no NVIDIA driver.")] = False,
) -> None:
    """Build PyCUDA, which has no wheels, and install it with the packages of the profilers. The build takes minutes.

    `fourways install-pycuda --if-driver` is the part that `make setup` leaves out on a machine without a GPU.
    """
    from fourways import install

    if if_driver and (reason := toolchain.missing("gpu")):
        tell(f"PyCUDA is left out: {reason}")
        return
    install.install_pycuda(log=tell)


def wheelhouse(
    folder: Annotated[Path, typer.Argument(help="The folder to write: empty, or not there yet.")],
    python: Annotated[str, typer.Option(help="The Python of the GPU machine: a version or a path.")] = "3.12",
    have: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="What that machine has: its `pip freeze`, names or patterns, one a line. `nvidia-*`: CUDA's toolkit.",
        ),
    ] = None,
) -> None:
    """Gather the wheels that a GPU machine without network needs, PyCUDA's included. Needs no driver; takes minutes.

    `fourways wheelhouse wheels --have freeze.txt` here; then, there, `make lessons PYTHON=python3 WHEELHOUSE=wheels`.
    """
    from fourways import install

    there = have.read_text(encoding="utf-8").splitlines() if have else []
    install.wheelhouse(folder, python=python, have=there, log=tell)


app.command("list")(lessons.list_lessons)
app.command("open", context_settings={"ignore_unknown_options": True})(lessons.open_lessons)  # JupyterLab's
for command in (
    doctor,
    lessons.run,
    measure.check,
    measure.time,
    kernels.build,
    kernels.link,
    kernels.package,
    kernels.profile,
    kernels.timeline,
    lessons.book,
    lessons.export,
    install_pycuda,
    wheelhouse,
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

    for each in (signal.SIGTERM, signal.SIGHUP):  # `timeout` sends several
        signal.signal(each, signal.SIG_IGN)
    started = psutil.Process().children(recursive=True)
    for process in started:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    psutil.wait_procs(started, timeout=3)  # a compiler deletes its own temporary files
    sys.exit(128 + number)
