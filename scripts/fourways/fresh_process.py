"""Programs in fresh Python processes: timed stage by stage, or asked for an answer.

A program is a file or a text. Comments of one word, such as `# import` or `# launch`, mark the stages in it:

    program = "# import\nimport numpy\n# work\nnumpy.ones(1000).sum()\n"
    fresh_process.run({"NumPy": program})

The clock is read between the stages, and nowhere else, so a program runs as its reader sees it. A stage that comes
twice counts as one. `start` is the time until the first stage, nearly all of it the interpreter's own. `end` is the
time from the last line until the process is gone. This module imports nothing of ours but `tables`.
"""

import ast
import itertools
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fourways import tables

Program = str | Path
"""The text of a Python program, or the path of its file."""

_DRIVER = """
import sys as _sys
import time as _time

_sys.argv[0] = __file__ = {path!r}
{own_folder}
_parts = [compile(text, __file__, "exec", dont_inherit=True) for text in {texts!r}]
_clock = open({log!r}, "w", buffering=1)
for _part in _parts:
    print(_time.monotonic(), file=_clock)
    exec(_part)
print(_time.monotonic(), file=_clock)
"""


class ProgramError(RuntimeError):
    """A program that failed, or that cannot be timed; the message is one line, with the program's own last words."""


class Ended(NamedTuple):
    """The end of a process: seconds of each stage, exit `status` (negative: a signal), and what it wrote.

    `answer` is the last JSON object that it printed, or None. `words` are those on standard error.
    """

    stages: dict[str, float]
    status: int
    answer: Any
    words: str

    @property
    def why(self) -> str:
        """The line that says why the process failed: its last exception, its last words, or its status."""
        _, traceback, words = self.words.rpartition("Traceback (most recent call last):\n")
        said = [line for line in words.split("\n") if line.strip() and not (traceback and line[0] == " ")]
        ended = signal.Signals(-self.status).name if self.status < 0 else f"exit status {self.status}"
        return said[0 if traceback else -1] if said else ended


def parts(text: str) -> list[tuple[str, str]]:
    """Split a program at its comments of one word; return each stage's name with its source, in order.

    The part before the first comment has the name "". Blank lines in front of a source keep the numbers of its lines.
    A comment within a statement marks no stage. Raises ProgramError for a text that is no Python.
    """
    try:
        statements = ast.parse(text).body
    except SyntaxError as error:
        raise ProgramError(f"line {error.lineno}: SyntaxError: {error.msg}") from None
    within = {line for each in statements for line in range(each.lineno + 1, (each.end_lineno or 0) + 1)}
    lines = text.split("\n")
    marks = [(number, line[2:].strip()) for number, line in enumerate(lines) if re.fullmatch(r"# \w+\s*", line)]
    marks = [(0, ""), *((number, name) for number, name in marks if number + 1 not in within), (len(lines), "")]
    return [(name, "\n" * begin + "\n".join(lines[begin:end])) for (begin, name), (end, _) in itertools.pairwise(marks)]


def start(
    program: Program, *arguments: object, environment: Mapping[str, str] | None = None, timeout: float = 600
) -> Ended:
    """Run a program once in a fresh process, wait for it, and return how it ended.

    It gets `arguments` as `sys.argv[1:]`, and no standard input. Raises ProgramError if the program is no Python, or if
    it takes longer than `timeout` seconds.
    """
    with tempfile.TemporaryDirectory(prefix="fresh-") as place:
        driver, log, path = Path(place, "driver.py"), Path(place, "log"), Path(place, "program.py")
        if isinstance(program, Path):
            path, own_folder = program.resolve(), f"_sys.path.insert(0, {str(program.resolve().parent)!r})"
        else:
            path.write_text(program, encoding="utf-8")
            own_folder = ""
        names, texts = zip(*parts(path.read_text(encoding="utf-8")), strict=True)
        driver.write_text(_DRIVER.format(path=str(path), own_folder=own_folder, texts=texts, log=str(log)), "utf-8")
        words = [sys.executable, "-P", str(driver), *map(str, arguments)]
        both: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace"}
        began = time.monotonic()
        try:
            done = subprocess.run(words, timeout=timeout, env=environment, stdin=subprocess.DEVNULL, **both)
        except subprocess.TimeoutExpired:
            raise ProgramError(f"not done after {timeout:g} s") from None
        clock = [began, *map(float, log.read_text().split() if log.exists() else ()), time.monotonic()]
    stages: dict[str, float] = {}
    spans = itertools.pairwise(clock)  # fewer than names if it died
    for name, (begin, end) in zip(["start", *names, "end"], spans, strict=False):
        stages[name or "start"] = stages.get(name or "start", 0.0) + end - begin
    objects = filter(None, map(_object, reversed(done.stdout.splitlines())))
    return Ended(stages, done.returncode, next(objects, None), done.stderr.strip())


def answer(program: Program, *arguments: object, **how: Any) -> Any:
    """Return the last JSON object that a program prints; `how` are arguments of `start`.

    Raises ProgramError if the program fails or prints none.
    """
    ended = start(program, *arguments, **how)
    if ended.status or ended.answer is None:
        raise ProgramError(f"a fresh process failed: {ended.why if ended.status else 'it printed no answer'}")
    return ended.answer


def samples(
    programs: Mapping[str, Sequence[Any] | Program], runs: int = 21, **how: Any
) -> dict[str, list[dict[str, float]]]:
    """Run each program in `runs` fresh processes, and return the seconds of each stage of each process, by program.

    A program may stand in a sequence with its arguments behind it; `how` are arguments of `start`. Each runs once for
    warm-up; then they take turns, in a new random order each round. Raises ProgramError, with the program's name, if it
    has no stages or fails.
    """
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in programs}
    for number in range(runs + 1):
        for name in random.sample(list(programs), len(programs)):
            words = programs[name]
            try:
                ended = start(*([words] if isinstance(words, Program) else words), **how)
            except ProgramError as error:
                raise ProgramError(f"{name}: {error}") from None
            if ended.status:
                raise ProgramError(f"{name}: {ended.why}")
            if len(ended.stages) < 3:
                raise ProgramError(f"{name}: no comment such as `# import` says where a stage begins")
            if number:
                taken[name].append(ended.stages)
    return taken


def run(programs: Mapping[str, Sequence[Any] | Program], runs: int = 21, **how: Any) -> tables.Table:
    """Time programs as `samples` does, and return a row for each.

    A row has `program`, `clock` ("host"), `stages`, the `tables.summary` of each stage by its name, and `seconds`, that
    of the whole process as its parent sees it.
    """
    rows: list[tables.Row] = []
    for name, taken in samples(programs, runs, **how).items():
        stages = {stage: tables.summary([each.get(stage, 0.0) for each in taken]) for stage in taken[0]}
        total = tables.summary([sum(each.values()) for each in taken])
        rows.append({"program": name, "clock": "host", "stages": stages, "seconds": total})
    names = dict.fromkeys(stage for row in rows for stage in row["stages"])
    columns = [(each, lambda row, each=each: tables.show("seconds", row["stages"].get(each))) for each in names]
    note = f"Host clock; {runs} fresh processes each, from start to end."
    return tables.Table("fresh_processes", rows, ["program", *columns, ("total", "seconds"), tables.RANGE], note)


def _object(line: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(line)
    except ValueError:  # other words
        return None
    return parsed if isinstance(parsed, dict) else None
