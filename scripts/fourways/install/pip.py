"""pip for any interpreter of this machine, with progress on the screen and the lines that matter of an error."""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.version import Version
from rich.console import Console

from fourways import toolchain

_ABOUT = """
import pathlib, sys, sysconfig
print("%d.%d" % sys.version_info[:2], pathlib.Path(sysconfig.get_path("include"), "Python.h").is_file())
"""

SERVES_ALL = Version("23.2.1")
"""The oldest pip that we tried and that works for every Python from 3.11 to 3.14."""


class InstallError(RuntimeError):
    """A build or an installation failed. The message says what failed, why, and what to do."""


def pip(python: str | Path, *arguments: str) -> list[str]:
    """Return the command that runs pip for the interpreter `python`, which may have no pip of its own.

    The pip is ours if it is new enough, else uv's. pip runs under that interpreter, and an old pip fails under a newer
    Python: Debian 12's 23.0.1 fails under 3.12, which has no `pkgutil.ImpImporter`.
    Raises InstallError if there is neither a new enough pip nor uv.
    """
    ours = importlib.util.find_spec("pip") and Version(importlib.metadata.version("pip"))
    if ours and (ours >= SERVES_ALL or str(python) == sys.executable):
        return [sys.executable, "-m", "pip", "--python", str(python), *arguments]
    if uv := find_uv():
        return [uv, "tool", "run", "--python", sys.executable, "pip", "--python", str(python), *arguments]
    raise InstallError(
        f"neither pip {SERVES_ALL} or newer nor uv is here: "
        "`python -m ensurepip`, then `python -m pip install --upgrade pip` bring pip"
    )


def find_uv() -> str | None:
    """Return the path of uv in this environment, else on PATH, or None."""
    return shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")


def find_python(wanted: str) -> Path:
    """Return an interpreter to build wheels with, for Python `wanted` ("3.12", or an interpreter's path).

    Candidates are this interpreter, those on PATH, uv's and pyenv's. It must have Python's C headers, which extension
    modules include. Raises InstallError, which says what is missing.
    """
    version = re.match(r"(\d+\.\d+)(\.\d+)?$", wanted)
    refused = []
    for candidate in _interpreters(version[1]) if version else [Path(wanted)]:
        answer = toolchain.run(str(candidate), "-c", _ABOUT).stdout.split()
        if len(answer) != 2 or (version and answer[0] != version[1]):
            continue  # another version, or a version manager's shim without an interpreter
        if answer[1] == "True":
            return candidate
        refused.append(f"{candidate} has no Python.h (on Debian and Ubuntu: apt install python{answer[0]}-dev)")
    looked = "looked at this interpreter, PATH, uv's and pyenv's: install one, or give its path" if version else ""
    why = "; ".join(refused) or looked or "it is no Python interpreter"
    raise InstallError(f"no Python {wanted} to build wheels with: {why}")


def _interpreters(version: str) -> list[Path]:
    uv, pyenv = find_uv(), Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    of_uv = [uv, "python", "find", "--no-python-downloads", "--no-project", version] if uv else []
    names = [sys.executable, shutil.which(f"python{version}"), of_uv and toolchain.run(*of_uv).stdout.strip()]
    return [Path(name) for name in names if name] + sorted(pyenv.glob(f"versions/{version}.*/bin/python3"))


def run(command: list[str], doing: str, environment: Mapping[str, str] | None = None) -> None:
    """Run a command, and show the file that is compiled.

    Raises InstallError with the lines that matter; the message names a file with the whole output.
    """
    lines: list[str] = []
    environment = {"UV_SYSTEM_CERTS": "1"} | dict(environment or os.environ)  # recent pips use the system's by default
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    with Console(stderr=True).status(doing) as status, subprocess.Popen(command, env=environment, **pipes) as process:
        for line in process.stdout or ():
            lines.append(line)
            if source := re.search(r" -c (\S+\.cpp) ", line):
                status.update(f"{doing}: {Path(source[1]).name}")
    if process.returncode:
        with tempfile.NamedTemporaryFile("w", prefix="fourways-", suffix=".log", delete=False) as log:
            log.writelines(lines)
        telling = [line for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)][:8] or lines[-8:]
        code = process.returncode
        raise InstallError(f"{doing} failed (exit code {code}; all of it: {log.name})\n{''.join(telling).rstrip()}")
