"""The ways of a lesson as functions, which its cells define."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from fourways import ways
from fourways.lesson.notebook import Lesson, LessonError
from fourways.ways import WAYS, Ways


def collect(namespace: Mapping[str, Any], rtol: float = 0.0) -> Ways:
    """Return the ways defined in `namespace`, by their names `<kernel>_<way>`: `collect(globals())` in a lesson.

    `rtol` is the relative tolerance of checks; the default 0 asks for the exact result.
    Raises LessonError if there is no way, if the ways belong to several kernels, or if `make_inputs` or `reference`
    is missing.
    """
    way_function = re.compile(rf"(\w+)_({'|'.join(WAYS)})")
    by_name = {match.groups(): namespace[name] for name in namespace if (match := way_function.fullmatch(name))}
    missing = {way: reason for way in WAYS if (reason := ways.missing(way))}
    names = sorted({kernel for kernel, _ in by_name})
    if not names and missing:
        raise LessonError("no way is defined; " + "; ".join(f"{way}: {reason}" for way, reason in missing.items()))
    if len(names) != 1:
        raise LessonError(f"expected functions <kernel>_<way> of one kernel, found {names or 'none'}")
    for needed in ("make_inputs", "reference"):
        if needed not in namespace:
            raise LessonError(f"no {needed}() defined: the cell tagged `setup` defines it")
    functions = {way: by_name[names[0], way] for way in WAYS if (names[0], way) in by_name}
    return Ways(names[0], namespace["make_inputs"], namespace["reference"], functions, missing, rtol)


def way_cell(lesson: Lesson, way: str) -> list[str]:
    """Return the sources of the cells tagged `way-<way>`. Raises LessonError, with the lesson's reason, without one."""
    if cells := lesson.cells(f"way-{way}"):
        return cells
    raise LessonError(f"{lesson.slug} has no way {way}: {lesson.meta.get('without', {}).get(way, 'no such cell')}")


def load(lesson: Lesson, chosen: Collection[str] = ()) -> Ways:
    """Execute a lesson's `setup` cells and the `way-*` cells of the `chosen` ways, and return their functions.

    The default is all ways that can run here. No other way is built. Raises LessonError if a chosen way has no cell,
    or if a cell raises; the message names the cell.
    """
    namespace: dict[str, Any] = {"__name__": f"lesson_{lesson.slug}"}
    for way in chosen:
        way_cell(lesson, way)
    chosen = chosen or [way for way in WAYS if not ways.missing(way)]
    for tag in ["setup", *(f"way-{way}" for way in chosen)]:
        for number, source in enumerate(lesson.cells(tag), 1):
            cell = f"{lesson.path.name}, cell {number} tagged {tag}"
            try:
                exec(compile(source, f"<{cell}>", "exec"), namespace)
            except Exception as error:
                raise LessonError(f"{cell}: {type(error).__name__}: {error}") from error
    return collect(namespace, rtol=lesson.rtol)
