"""The result of a lesson's run, and the executed notebook that is kept in `build/lessons`."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fourways import files, kernels, tables, toolchain
from fourways.lesson.notebook import Lesson
from fourways.lesson.recorded import digest, kernel_hashes


@dataclass
class LessonRun:
    """The result of running a lesson: its code cells run, those skipped by reason, the seconds, and the error or ""."""

    lesson: Lesson
    notebook: Any = None
    ran: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    error: str = ""
    kept: bool = False

    @property
    def outcome(self) -> str:
        """`passed`, `failed`, or `kept`: it passed before, and nothing that it depends on has changed since."""
        return "failed" if self.error else "kept" if self.kept else "passed"

    @property
    def gaps(self) -> str:
        """Why this is no complete run: its error, or its skipped cells with the reasons; "" for a complete one.

        A cell may be skipped if it lacks a package in `may_skip` of the lesson's front matter.
        """
        if self.error:
            return self.error
        allowed = {toolchain.missing(package) for package in self.lesson.meta.get("may_skip", ())}
        return "; ".join(f"{count} cells skipped: {why}" for why, count in self.skipped.items() if why not in allowed)


def _path(lesson: Lesson) -> Path:
    return kernels.root() / "build" / "lessons" / f"{lesson.slug}.ipynb"


def check_writable(lesson: Lesson) -> None:
    path = _path(lesson)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.check_writable(path)


def shared_digest() -> bytes:
    """Return the SHA-256 of all that the runs of all lessons depend on: this clone's code, packages, tools, machine."""
    folders = [
        kernels.root() / name for name in ("cpp", "scripts", "book/recorded", "book/results", "lessons/programs")
    ]
    code = sorted(
        path for folder in folders for path in folder.rglob("*.*") if path.suffix != ".pyc" and path.is_file()
    )
    code += kernels.root().glob("requirements.lock")
    stamp = {key: value for key, value in toolchain.stamp().items() if key not in ("commit", "clean", "date")}
    lacking = {need: toolchain.missing(need) for need in (*toolchain.PACKAGES, "gpu", "cupy", "pycuda", "fourways_aot")}
    here = json.dumps([stamp, lacking, toolchain.distributions(*toolchain.PACKAGES)])
    return digest([here.encode(), *(path.read_bytes() for path in code)]).encode()


def write(result: LessonRun, stamped: bool, shared: bytes | None) -> None:
    """Write an executed notebook, stamped if asked, and beside it what `restore` reads, if it passed with `shared`."""
    import nbformat

    if stamped:
        made = {"kernels": kernel_hashes(result.lesson), "seconds": round(result.seconds, 1)}
        result.notebook.metadata.setdefault("fourways", {})["stamp"] = toolchain.stamp() | made
    path, text = _path(result.lesson), nbformat.writes(result.notebook)
    files.write_text(path, text)
    if shared and not result.error:
        told = {"ran": result.ran, "skipped": result.skipped, "seconds": result.seconds}
        depends = digest([shared, result.lesson.path.read_bytes(), text.encode()])
        files.write_text(path.with_suffix(".json"), json.dumps({"depends": depends, **told}))


def restore(result: LessonRun, shared: bytes) -> bool:
    """Fill in the result of the run that passed before, and return whether nothing has changed since."""
    import nbformat

    path = _path(result.lesson)
    try:
        told, text = json.loads(path.with_suffix(".json").read_bytes()), path.read_bytes()
        if told["depends"] != digest([shared, result.lesson.path.read_bytes(), text]):
            return False
    except (OSError, ValueError, LookupError, TypeError):
        return False
    result.notebook, result.kept = nbformat.reads(text.decode(), 4), True
    result.ran, result.skipped, result.seconds = told["ran"], Counter(told["skipped"]), told["seconds"]
    return True


def outcomes(results: list[LessonRun]) -> tables.Table:
    """Return the table that closes a run: lesson, cells run, cells skipped with the reasons, seconds, outcome."""
    rows = [
        {
            "lesson": result.lesson.slug,
            "ran": result.ran,
            "skipped": dict(result.skipped),
            "seconds": result.seconds,
            "outcome": result.outcome,
        }
        for result in results
    ]
    columns: list[tables.Column] = [
        "lesson",
        ("cells run", "ran"),
        ("cells skipped", lambda row: "\n".join(f"{n}: {why}" for why, n in row["skipped"].items()) or "0"),
        ("seconds", lambda row: f"{row['seconds']:.1f}"),
        "outcome",
    ]
    note = "Kept: text, kernels, packages and tools are those of an earlier run. To run a lesson all the same, name it."
    return tables.Table("lessons", rows, columns, note if any(result.kept for result in results) else "")
