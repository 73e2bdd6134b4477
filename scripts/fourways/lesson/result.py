"""The result of a lesson's run, and the executed notebook that is kept in `build/lessons`."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fourways import files, kernels, tables, toolchain
from fourways.lesson.notebook import Lesson
from fourways.lesson.recorded import kernel_hashes, program_hashes


@dataclass
class LessonRun:
    """The result of running a lesson: its code cells run, those skipped by reason, the seconds, and the error or ""."""

    lesson: Lesson
    notebook: Any = None
    ran: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    error: str = ""

    @property
    def outcome(self) -> str:
        """`passed` or `failed`."""
        return "failed" if self.error else "passed"

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


def write(result: LessonRun, stamped: bool) -> None:
    """Write an executed notebook to `build/lessons`, stamped if asked."""
    import nbformat

    if stamped:
        made = {"kernels": kernel_hashes(result.lesson), "seconds": round(result.seconds, 1)}
        made |= {"programs": program_hashes(result.lesson)}
        result.notebook.metadata.setdefault("fourways", {})["stamp"] = toolchain.stamp() | made
    files.write_text(_path(result.lesson), nbformat.writes(result.notebook))


def outcomes(results: list[LessonRun]) -> tables.Table:
    """Return the table that closes a run: lesson, cells run, cells skipped with the reasons, time, outcome."""
    rows = [
        {
            "lesson": result.lesson.slug,
            "cells run": result.ran,
            "cells skipped": "\n".join(f"{count}: {why}" for why, count in result.skipped.items()) or "0",
            "took_seconds": result.seconds,
            "outcome": result.outcome,
        }
        for result in results
    ]
    return tables.Table("lessons", rows)
