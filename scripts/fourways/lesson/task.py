"""What a fresh process is told, to run one way: the lesson's own cells, or a kernel of one's own."""

from pathlib import Path

from fourways import stages
from fourways.lesson.case import Case, lesson_or_case
from fourways.lesson.ways import GPU_SIZE, way_cell


def task(
    target: str, way: str, size: int = GPU_SIZE, entry: str | None = None, binding: Path | None = None
) -> stages.Task:
    """What a fresh process is told to run one way of a lesson, or the kernel `entry` of a kernel file: `stages`.

    `target` is as for `lesson_or_case`; `binding` is the folder of the `fourways_aot` to import in place of the
    installed one. Raises LessonError where there is no such lesson or way.
    """
    found = lesson_or_case(target, entry)
    told = {"way": way, "size": size, "binding": binding and str(binding.absolute())}
    if isinstance(found, Case):
        setup = f"from fourways import lesson\ncase = lesson.Case({str(found.path)!r}, {found.entry!r})\n"
        setup += "make_inputs, reference = case.make_inputs, case.reference"
        cell = f"{found.entry}_{way} = case.function({way!r})"
        return told | {"kernel": found.entry, "setup": setup, "cell": cell, "rtol": found.rtol}
    setup, cell = "\n".join(found.cells("setup")), "\n".join(way_cell(found, way))
    return told | {"kernel": str(found.meta["kernel"]), "setup": setup, "cell": cell, "rtol": found.rtol}
