"""The lessons in the order of a course: their parts, with minutes, and routes through them."""

from collections.abc import Iterator, Sequence

from fourways import lesson

PARTS = {
    "Begin": ("first_minutes",),
    "The four ways": (
        "00",
        "01",
        "02",
        "03",
        "04",
        "pycuda_beside_cupy",
        "05",
        "without_our_helpers",
        "road_to_the_roof",
        "your_own_kernel",
    ),
    "Measure and understand": (
        "06",
        "07",
        "when_a_kernel_fails",
        "two_races",
        "08",
        "09",
        "which_precision",
        "textures",
    ),
    "Beyond, ship, choose": ("10", "11", "12", "beyond_the_four", "13", "caches_and_storms", "several_gpus", "14"),
}
"""The numbers of the lessons, and the names of pages, by part and in the order of reading."""
ROUTES = {
    "an hour": ("first_minutes", "01"),
    "a day": ("00", "01", "02", "05", "06", "14"),
    "a course": tuple(each for lessons in PARTS.values() for each in lessons),
}


def tables(ending: str = ".md") -> str:
    """Return a Markdown table of the course's parts with links to the lessons, and one of the routes.

    `ending` is what the links add to a lesson's slug: `.md` in the README, nothing in the book.
    """
    lines = ["| lesson | question | minutes |", "| --- | --- | --- |"]
    for part, lessons in parts():
        lines.append(f"| **{part}** | | **{hours(lessons)}** |")
        for each in lessons:
            link = f"[{title(each)}](lessons/{each.slug}{ending})"
            lines.append(f"| {link} | {each.meta['question']} | {each.minutes} |")
    lines += ["", "| route | lessons | minutes |", "| --- | --- | --- |"]
    for route, names in ROUTES.items():
        chosen = _lessons(names)
        which = ", ".join(each.number if each.number.isdigit() else each.title for each in chosen)
        lines.append(f"| {route} | {'all' if names == ROUTES['a course'] else which} | {hours(chosen)} |")
    return "\n".join([*lines, "", 'The minutes after "+" are for the optional "Deeper" sections.', ""])


def chapters() -> str:
    """Return the parts for the book's table of contents, as YAML."""
    lines = []
    for part, lessons in parts():
        lines += [f"  - caption: {part}", "    chapters:", *(f"      - file: lessons/{each.slug}" for each in lessons)]
    return "\n".join(lines)


def parts() -> Iterator[tuple[str, list[lesson.Lesson]]]:
    """Yield the name of each part that has lessons, and its lessons."""
    for part, names in PARTS.items():
        if lessons := _lessons(names):
            yield part, lessons


def _lessons(names: Sequence[str]) -> list[lesson.Lesson]:
    by_number = {each.number: each for each in lesson.lessons_and_pages()}
    return [by_number[name] for name in names if name in by_number]


def title(each: lesson.Lesson) -> str:
    """Return a lesson's number and title, or a page's title."""
    return f"{each.number} · {each.title}" if each.number.isdigit() else each.title


def hours(lessons: Sequence[lesson.Lesson]) -> str:
    """Return the sum of the lessons' core minutes, such as `1 h 20 min`."""
    whole, minutes = divmod(sum(each.meta["minutes"] for each in lessons), 60)
    return f"{whole} h {minutes:02} min" if whole else f"{minutes} min"
