"""What a fresh process is told, to run one way: the lesson's own cells, or a kernel of one's own."""

from pathlib import Path

from fourways import kernels, stages
from fourways.lesson.case import Case
from fourways.lesson.notebook import LessonError, find
from fourways.lesson.ways import GPU_SIZE


def task(
    target: str, way: str, size: int = GPU_SIZE, entry: str | None = None, binding: Path | None = None
) -> stages.Task:
    """What a fresh process is told to run one way of a lesson, or the kernel `entry` of a kernel file: `stages`.

    `binding` is the folder of the `fourways_aot` to import in place of the installed one.
    Raises LessonError where there is no such lesson or way.
    """
    told = {"way": way, "size": size, "binding": binding and str(binding.absolute())}
    if kernels.is_file(target):
        case = Case(target, entry)
        setup = f"from fourways import lesson\ncase = lesson.Case({str(case.path)!r}, {case.entry!r})\n"
        setup += "make_inputs, reference = case.make_inputs, case.reference"
        cell = f"{case.entry}_{way} = case.function({way!r})"
        return told | {"kernel": case.entry, "setup": setup, "cell": cell, "rtol": case.rtol}
    found = find(target)
    if not found.cells(f"way-{way}"):
        raise LessonError(f"{found.slug} has no way {way}: {found.meta['without'].get(way, 'no such cell')}")
    setup, cell = ("\n".join(found.cells(tag)) for tag in ("setup", f"way-{way}"))
    return told | {"kernel": str(found.meta["kernel"]), "setup": setup, "cell": cell, "rtol": found.rtol}
