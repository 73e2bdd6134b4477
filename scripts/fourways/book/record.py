"""Recordings of complete GPU runs, without the names of the machine."""

import re
import sys
from pathlib import Path
from tempfile import gettempdir

from fourways import files, kernels, lesson


def record(result: lesson.LessonRun) -> Path:
    """Write a complete run, stamped as `lesson.run_all` left it, to `book/recorded`, and return the file.

    Raises RuntimeError, and writes nothing, if the run failed or skipped a cell (`LessonRun.gaps`).
    """
    import nbformat

    slug = result.lesson.slug
    if result.gaps:
        raise RuntimeError(f"{slug} is not recorded, only a complete run is: {result.gaps}")
    path = kernels.root() / "book" / "recorded" / f"{slug}.ipynb"
    files.write_text(path, anonymous(nbformat.writes(result.notebook)) + "\n")
    return path


def anonymous(text: str) -> str:
    """Replace this machine's folders: the clone by `.`, the home folder by `~`, temporary ones by `/tmp/…`."""
    environment = [(Path(sys.prefix), "venv")] if sys.prefix != sys.base_prefix else []
    for place, instead in ((kernels.root(), "."), *environment, (Path.home(), "~")):
        if len(place.parts) > 1:  # not the home folder / of some containers
            text = re.sub(rf"{re.escape(str(place))}(?![\w-])", instead, text)
    return re.sub(rf"(?:{re.escape(gettempdir())}|/tmp)/[\w.-]+", "/tmp/…", text)
