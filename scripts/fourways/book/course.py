"""The lessons in the order of a course: their parts, with minutes, and routes through them."""

import re
from collections.abc import Iterator, Sequence
from html import escape

from fourways import lesson

PARTS = {
    "Begin": ("first_minutes",),
    "The four ways": ("00", "01", "02", "03", "04", "05", "road_to_the_roof", "your_own_kernel"),
    "Measure and understand": (
        "06",
        "which_timer",
        "07",
        "when_a_kernel_fails",
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


def tables() -> str:
    """Return a Markdown table of the course's parts with links for the README, and one of the routes."""
    lines = ["| lesson | question | minutes |", "| --- | --- | --- |"]
    for part, lessons in parts():
        lines.append(f"| **{part}** | | **{hours(lessons)}** |")
        for each in lessons:
            minutes = lesson.length(each)
            lines.append(f"| [{title(each)}](lessons/{each.slug}.md) | {each.meta['question']} | {minutes} |")
    lines += ["", "| route | lessons | minutes |", "| --- | --- | --- |"]
    for route, names in ROUTES.items():
        chosen = (name if name.isdigit() else title(lesson.find(name)) for name in names)
        which = "all" if names == ROUTES["a course"] else ", ".join(chosen)
        lines.append(f"| {route} | {which} | {hours(_lessons(names))} |")
    return "\n".join([*lines, "", lesson.FORMULA, ""])


def cards() -> str:
    """Return the lessons as a grid of cards for the book, part by part: title, drawing, question and minutes."""
    grids = (
        f"### {part}: {hours(lessons)}\n\n::::::{{grid}} 1 2 3 3\n:gutter: 2\n\n{''.join(map(_card, lessons))}::::::\n"
        for part, lessons in parts()
    )
    return "\n".join([*grids, lesson.FORMULA, ""])


def _card(each: lesson.Lesson) -> str:
    drawn = re.findall(r"figures/\w+_(?:light|dark)\.svg\n:alt: .*\n:class: only-\w+", each.path.read_text("utf-8"))
    pictures = "".join(f":::{{image}} {directive}\n:::\n" for directive in drawn[:2])
    return (
        f"::::{{grid-item-card}} {title(each)}\n:link: lessons/{each.slug}\n:link-type: doc\n\n"
        f"{pictures}{each.meta['question']}\n\n:::{{card-footer}}\n{lesson.length(each)} min\n:::\n::::\n"
    )


def citations() -> str:
    """Return a Markdown list of the course's lessons, each with all sources that it cites."""
    lines = []
    for _, lessons in parts():
        for each in lessons:
            groups = re.findall(r"\{cite\}`([^`]+)`", each.path.read_text(encoding="utf-8"))
            keys = dict.fromkeys(key.strip() for group in groups for key in group.split(","))
            if keys:
                lines.append(f"- [{title(each).partition(':')[0]}](lessons/{each.slug}) {{cite}}`{','.join(keys)}`")
    return "\n".join([*lines, ""])


def needs(each: lesson.Lesson) -> set[str]:
    """Return the numbers of the lessons that the first sentence behind "You need" names."""
    sentence = re.search(r"\*\*You need\*\*(.*?)(?:\. |\.$)", each.path.read_text(encoding="utf-8"), re.MULTILINE)
    return set(re.findall(r"(?<![.\d])\d\d(?![.\d])", sentence[1] if sentence else ""))


def needs_map() -> str:
    """Return a drawing of what needs what as SVG with links: a row for each step, a line to what a lesson needs.

    Lines that follow from two others are left out.
    """
    course = {each.number: each for _, lessons in parts() for each in lessons}
    needed = {number: needs(each) & set(course) for number, each in course.items()}
    step: dict[str, int] = {}
    while len(step) < len(course):
        step |= {
            number: max((step[other] + 1 for other in needed[number]), default=0)
            for number in course
            if number not in step and needed[number] <= set(step)
        }
    rows = [[number for number in course if step[number] == row] for row in range(max(step.values()) + 1)]
    widest = 46 * max(map(len, rows))
    places = {
        number: (widest * (place + 0.5) / len(row), 22 + 74 * down)
        for down, row in enumerate(rows)
        for place, number in enumerate(row)
    }
    drawn = []
    for number, (x, y) in places.items():
        for other in sorted(needed[number] - {far for near in needed[number] for far in needed[near]}):
            drawn.append(f'<path d="M{places[other][0]} {places[other][1] + 16} L{x} {y - 16}"/>')
    for number, (x, y) in places.items():
        name = number if number.isdigit() else number.split("_")[-1]
        drawn.append(
            f'<a href="lessons/{course[number].slug}.html"><title>{escape(title(course[number]))}</title>'
            f'<rect x="{x - 21}" y="{y - 16}" width="42" height="32" rx="6"/>'
            f'<text x="{x}" y="{y + 4}">{name}</text></a>'
        )
    height = 44 + 74 * (len(rows) - 1)
    return f'<svg class="needs" viewBox="0 0 {widest} {height}" width="{widest}">{"".join(drawn)}</svg>\n'


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
    whole, minutes = divmod(sum(lesson.length(each).core for each in lessons), 60)
    return f"{whole} h {minutes:02} min" if whole else f"{minutes} min"
