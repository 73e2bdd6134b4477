"""Find the lesson, or the kernel outside the lessons, that a user names."""

from pathlib import Path

from fourways import kernels
from fourways.case import Case
from fourways.lesson.notebook import Lesson, all_lessons, find


def lesson_or_case(
    name: str, entry: str | None = None, case: Path | str | None = None, reference: str | None = None, timeout: int = 60
) -> Lesson | Case:
    """Return the lesson or the kernel that `name` means.

    A lesson is named by its number, its slug or its kernel. Another kernel is named by its file, or by its name in
    `cpp/kernels`; the other arguments are for its `Case`. Raises NotThereError for an unknown name, and as `Case` does.
    """
    if kernels.is_file(name):
        return Case.load(name, entry, case, reference, timeout)
    if case and name in kernels.names():
        return Case.load(kernels.path(name), entry, case, reference, timeout)
    try:
        return find(name)
    except kernels.NotThereError:
        if name not in kernels.names():
            raise
    lessons = all_lessons()
    if about := [lesson for lesson in lessons if lesson.meta["kernel"] == name]:
        return about[0]
    if also := [lesson.number for lesson in lessons if name in lesson.meta.get("also", ())]:
        raise kernels.NotThereError(
            f"{name}: lesson {also[0]} calls it: fourways run {also[0]}; alone it needs a --case"
        )
    return Case.load(kernels.path(name), entry, case, reference, timeout)
