"""Judge handed-in answers, several at a time, each in a fresh process with limits."""

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from fourways import kernels, lesson, toolchain
from fourways.lesson import Exercise, exercises
from fourways.tables import Column, Row, Table

_PROGRAM = Path(__file__).with_name("answer_process.py")


class Limits(NamedTuple):
    """The limits of an answer's process, with all processes it starts: `seconds`, and `memory` in bytes.

    The seconds are CPU time, or wall time for an answer that keeps several cores busy: on a busy machine, a right
    answer waits. An answer that only waits is ended after five times as many seconds.
    """

    seconds: float = 120.0
    memory: int = 4 * 2**30

    def exceeded(self, seconds: float, cpu_seconds: float, memory: int) -> str:
        """Return which limit a process exceeds that has run for `seconds` of wall time, or ""."""
        if seconds > 5 * self.seconds:
            return f"it took more than {5 * self.seconds:g} s; does it wait for something?"
        if min(seconds, cpu_seconds) > self.seconds:
            return f"it took more than {self.seconds:g} s; does a loop never end?"
        return f"it took more than {self.memory / 2**30:g} GiB of memory" if memory > self.memory else ""


def handed_in(paths: Iterable[Path]) -> list[Path]:
    """Return the notebooks and `.cu` files among the paths and in the folders among them, sorted.

    Raises InputError if there are none, or if a path does not exist.
    """
    files: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise kernels.InputError(f"{path}: no such file or folder")
        files |= set(path.rglob("*")) if path.is_dir() else {path}
    chosen = [
        path for path in sorted(files) if path.suffix in (".ipynb", ".cu") and ".ipynb_checkpoints" not in path.parts
    ]
    if not chosen:
        raise kernels.InputError("no notebook (.ipynb) and no kernel (.cu) there")
    return chosen


def grade(
    files: Sequence[Path],
    case: Path | None = None,
    limits: Limits | None = None,
    tell: Callable[[str], Any] = lambda _: None,
) -> Table:
    """Judge every answer in the notebooks, and every kernel in the `.cu` files by `case`, and return the verdicts.

    Rows hold file (its path below the folder that all share), exercise, verdict ("right", "not yet", "no answer", "not
    judged"), seconds and message. Several answers run at a time, in a folder that is deleted afterwards. Raises
    InputError for `.cu` files without a case.
    """
    if not case and any(file.suffix == ".cu" for file in files):
        raise kernels.InputError("kernels (.cu) are judged by a case: name it with --case; `fourways case` begins one")
    limits = limits or Limits()
    rows: list[Row] = []
    folder = os.path.commonpath([file.absolute().parent for file in files]) if files else ""
    jobs: list[tuple[Row, Callable[[], dict[str, Any]]]] = []
    for file in files:
        name = str(file.absolute().relative_to(folder))
        row: Row = {"file": name, "exercise": "", "verdict": "not judged", "seconds": None, "message": ""}
        if file.suffix == ".cu":
            assert case
            rows.append(row | {"exercise": file.stem})
            jobs.append((rows[-1], partial(_kernel, file.resolve(), case.resolve(), limits)))
            continue
        try:
            answers = list(_answers(file))
        except kernels.InputError as error:
            rows.append(row | {"message": str(error)})
            continue
        for exercise, source in answers:
            rows.append(row | {"exercise": f"{exercise.lesson.number}.{exercise.number}"})
            if not source:
                missing = "the exercise's cell is missing" if source is None else ""
                rows[-1] |= {"verdict": "no answer", "message": missing}
            elif reason := lesson.skip_reason(exercise.lesson.notebook.cells[exercise.cell]):
                rows[-1]["message"] = reason
            else:
                jobs.append((rows[-1], partial(_notebook, _task(exercise, source), limits)))

    def one(job: tuple[Row, Callable[[], dict[str, Any]]]) -> None:
        start = time.perf_counter()
        job[0].update(job[1]())
        job[0]["seconds"] = time.perf_counter() - start
        tell(f"{job[0]['file']} {job[0]['exercise']}: {job[0]['verdict']}")

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as several:
        list(several.map(one, jobs))
    right = sum(row["verdict"] == "right" for row in rows)
    judged = sum(row["verdict"] not in ("no answer", "not judged") for row in rows)
    note = f"Right: {right} of {judged} answers. " + (
        "Answers could write to their own folder alone, and had no network."
        if _walls()
        else "Answers ran as you, and could read and write your files: install bubblewrap to keep them out."
    )
    columns: list[Column] = [
        "file",
        "exercise",
        "verdict",
        ("time", lambda row: f"{row['seconds'] or 0:.1f} s"),
        ("message", _first),
    ]
    return Table("grades", rows, columns, note)


def _first(row: Row) -> str:
    """The first line of a row's message, shortened."""
    line = row["message"].partition("\n")[0]
    return line if len(line) <= 90 else line[:89] + "…"


def _answers(file: Path) -> Iterator[tuple[Exercise, str | None]]:
    """Yield the answers in a notebook: the code of each exercise's cell, and of cells that the learner added beside it.

    The code is "" where the exercise is as it was handed out, and None where its cell is missing. Raises InputError if
    the file is no notebook of a lesson.
    """
    try:
        cells = json.loads(file.read_text("utf-8"))["cells"]
        ids = [str(cell.get("id", "")) for cell in cells]
        codes = [_code(cell) for cell in cells]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise kernels.InputError("this is no Jupyter notebook") from None
    slug = next((match[1] for each in ids if (match := re.fullmatch(r"(\w+)-exercise-\d+", each))), None)
    if not slug:
        raise kernels.InputError("no exercise has its id: begin with a notebook that `fourways export` wrote")
    for exercise in exercises(lesson.find(slug)):
        if (name := f"{slug}-exercise-{exercise.number}") not in ids:
            yield exercise, None
            continue
        place = ids.index(name)
        first = last = place
        while first > 0 and not ids[first - 1].startswith(f"{slug}-"):
            first -= 1
        while last + 1 < len(ids) and not ids[last + 1].startswith(f"{slug}-"):
            last += 1
        source = "\n\n".join(filter(None, codes[first : last + 1]))
        yield exercise, ("" if source.strip() == exercise.stub.strip() else source)


def _code(cell: dict[str, Any]) -> str:
    """The source of a code cell, without the line `%%needs` of an export; "" for another cell."""
    source = "".join(cell.get("source", "")) if cell.get("cell_type") == "code" else ""
    return source.partition("\n")[2] if source.startswith("%%needs") else source


def _task(exercise: Exercise, source: str) -> dict[str, Any]:
    """Return the task of the process that judges an answer.

    Only the main thread parses code: in threads, Python 3.11's parser may fail by a SystemError.
    """
    task = {"setup": exercise.setup(source), "answer": source, "given": exercise.rest, "judge": exercise.judge}
    return task | {"names": exercise.names, "secret": secrets.token_hex(16)}


def _notebook(task: dict[str, Any], limits: Limits) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        ended = _ended([str(_PROGRAM)], json.dumps(task), Path(folder), limits)
        if isinstance(ended, str):
            return {"verdict": "not yet", "message": ended}
        verdict = None
        with contextlib.suppress(ValueError, RecursionError):
            verdict = json.loads(ended[0])
        if not isinstance(verdict, dict) or verdict.get("secret") != task["secret"]:
            return {"verdict": "not yet", "message": f"the answer ended its process: {ended[1]}"}
        return {"verdict": "right" if verdict["is_right"] else "not yet", "message": verdict["message"]}


def _kernel(file: Path, case: Path, limits: Limits) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        results = Path(folder, "rows.json")
        words = ["-m", "fourways", "check", str(file), "--case", str(case), "--way", "host", "--json", str(results)]
        ended = _ended(words, "", Path(folder), limits)
        if isinstance(ended, str):
            return {"verdict": "not yet", "message": ended}
        if not results.exists():
            return {"message": ended[1]}
        rows = json.loads(results.read_text("utf-8"))["tables"]["check"]
    wrong = [row["outcome"] for row in rows if row["outcome"] != "right"]
    return {"verdict": "not yet" if wrong else "right", "message": "\n".join(wrong)}


def _ended(words: list[str], task: str, folder: Path, limits: Limits) -> tuple[str, str] | str:
    """Run Python in a session of its own, and return its output and its last words; or the limit that ended it."""
    own = {"TMPDIR": str(folder), "FOURWAYS_CACHE_DIR": str(folder / "cache"), "HOME": str(folder)}
    command = [*_walls(), *(("--bind", str(folder), str(folder)) if _walls() else ())]
    start, problem = time.perf_counter(), ""
    with (
        Path(folder, "words").open("w+", errors="replace") as said,
        Path(folder, "output").open("w+", errors="replace") as output,
        Path(folder, "task").open("w+") as given,
    ):
        given.write(task)
        given.seek(0)
        process = subprocess.Popen(
            [*command, sys.executable, "-P", *words],
            stdin=given,
            stdout=output,
            stderr=said,
            cwd=folder,
            env=toolchain.child_environment() | own,
            start_new_session=True,
        )
        try:
            while process.poll() is None and not problem:
                time.sleep(0.05)
                problem = limits.exceeded(time.perf_counter() - start, *_used(process.pid))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        said.seek(0)
        lines = said.read().strip().splitlines()
        code = process.returncode
        by = -code if code < 0 else code - 128  # bubblewrap adds 128 to the signal's number
        status = f"killed by {signal.Signals(by).name}" if by in set(signal.Signals) else f"exit code {code}"
        return problem or (output.read(), lines[-1] if lines and by not in set(signal.Signals) else status)


def _used(pid: int) -> tuple[float, int]:
    """Return the seconds of CPU time and the bytes of memory of a process and those it started."""
    try:
        top = psutil.Process(pid)
        family = [top, *top.children(recursive=True)]
        return sum(sum(each.cpu_times()[:4]) for each in family), sum(each.memory_info().rss for each in family)
    except psutil.Error:  # one has just ended
        return 0.0, 0


@cache
def _walls() -> tuple[str, ...]:
    """Return the command of bubblewrap that makes all files read-only and takes the network away; () without it."""
    if not (bwrap := shutil.which("bwrap")):
        return ()
    walls = (bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net", "--die-with-parent")
    return walls if subprocess.run([*walls, "true"], capture_output=True).returncode == 0 else ()
