"""What a user means by a name: a lesson, or a kernel outside any."""

from pathlib import Path

from fourways import kernels
from fourways.case import Case
from fourways.lesson.notebook import Lesson, all_lessons, find


def lesson_or_case(
    name: str, entry: str | None = None, case: Path | str | None = None, reference: str | None = None, timeout: int = 60
) -> Lesson | Case:
    """What a user who says `name` wants to run: a lesson, by its number, its name or its kernel's, or another kernel.

    Another kernel is a file, or one of `cpp/kernels` by its name; what comes after it is a `Case`'s.
    Raises NotThereError for a name of neither, and as `Case` does.
    """
    if kernels.is_file(name):
        return Case(name, entry, case, reference, timeout)
    if case and name in kernels.names():
        return Case(kernels.path(name), entry, case, reference, timeout)
    try:
        return find(name)
    except kernels.NotThereError:
        if name not in kernels.names():
            raise
    lessons = all_lessons()
    if about := [found for found in lessons if found.meta["kernel"] == name]:
        return about[0]
    if also := [found.number for found in lessons if name in found.meta.get("also", ())]:
        raise kernels.NotThereError(
            f"{name}: lesson {also[0]} calls it: fourways run {also[0]}; alone it needs a --case"
        )
    return Case(kernels.path(name), entry, case, reference, timeout)
