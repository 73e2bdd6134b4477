"""A task for a fresh Python process: JSON on its standard input, its answer the last JSON object that it prints."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple


class Ended(NamedTuple):
    """The end of a process: its `answer` or None, exit `status` (negative: a signal), and `words` on standard error."""

    answer: Any
    status: int
    words: str


def run(
    program: Path | str,
    task: Mapping[str, Any],
    environment: Mapping[str, str],
    folder: Path | None = None,
    timeout: float | None = None,
) -> Ended:
    """Run a Python file, or a text, in `folder` with a task, to which `spawned` is added: `time.time()` at its start.

    `timeout` is in seconds. Raises subprocess.TimeoutExpired.
    """
    words = ["-c", program] if isinstance(program, str) else [str(program)]
    done = subprocess.run(
        [sys.executable, "-P", *words],
        input=json.dumps({**task, "spawned": time.time()}),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        env=environment,
        cwd=folder,
    )
    answers = filter(None, map(_object, reversed(done.stdout.splitlines())))
    return Ended(next(answers, None), done.returncode, done.stderr.strip())


def answer(program: Path | str, task: Mapping[str, Any], environment: Mapping[str, str]) -> Any:
    """Return the answer of `run`. Raises RuntimeError, with the process's words, if it fails or gives none."""
    ended = run(program, task, environment)
    if ended.status or ended.answer is None:
        raise RuntimeError(f"a fresh process failed:\n{ended.words}")
    return ended.answer


def _object(line: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(line)
    except ValueError:  # a library's own words
        return None
    return parsed if isinstance(parsed, dict) else None
