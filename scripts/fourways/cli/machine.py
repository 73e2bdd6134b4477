"""The commands on this machine: doctor, install-pycuda, wheelhouse."""

from pathlib import Path
from typing import Annotated

import typer

from fourways import toolchain
from fourways.cli.options import console, tell


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
    python: Annotated[str, typer.Option(help="The Python version of the GPU machine.")] = "3.12",
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
