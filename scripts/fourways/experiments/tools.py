"""Programs that are no Python, such as a compiler, run for their output."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def output(*words: object, environment: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    """Run a program in `folder`, and return all that it prints, on standard error, too.

    Raises RuntimeError with the same text if the program fails.
    """
    both: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "errors": "replace"}
    done = subprocess.run(list(map(str, words)), env=environment, cwd=folder, **both)
    if done.returncode:
        raise RuntimeError(f"{words[0]} failed:\n{done.stdout}")
    return str(done.stdout)
