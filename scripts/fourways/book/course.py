"""The lessons in the order of a course: their parts, with minutes, and routes through them."""

from collections.abc import Iterator, Sequence

from fourways import lesson

PARTS = {
    "Begin": ("first_minutes",),
    "The four ways": ("00", "01", "02", "03", "04", "05", "your_own_kernel"),
    "Measure": ("06", "07", "when_a_kernel_fails", "08", "09"),
    "Choose and ship": ("10", "11", "12", "13", "14"),
    "More": (
        "without_our_helpers",
        "pycuda_beside_cupy",
        "road_to_the_roof",
        "two_races",
        "which_precision",
        "textures",
        "beyond_the_four",
        "caches_and_storms",
        "several_gpus",
    ),
}
"""The numbers of the lessons, and the names of pages, by part and in the order of reading."""
PAGES = {
    "Begin": ("installation", "cuda_in_one_page", "from_text_to_gpu"),
    "Look up": ("commands", "troubleshooting", "glossary", "how_measured", "teach_a_class"),
    "More": ("what_the_cpu_cannot_tell", "references"),
}
"""The book's own pages, by part; they stand behind the lessons, but the installation before the first."""
ROUTES = {
    "an hour": ("first_minutes", "01"),
    "a day": ("00", "01", "02", "05", "06", "14"),
    "a kernel of my own": ("your_own_kernel", "13"),
}


def lessons(ending: str = ".md") -> str:
    """Return a Markdown table of the course's parts with links to the lessons.

    `ending` is what the links add to a lesson's slug: `.md` in the README, nothing in the book.
    """
    lines = ["| lesson | question | minutes |", "| --- | --- | --- |"]
    for part, within in parts():
        lines += [f"| **{part}** | | **{hours(within)}** |", *_rows(within, ending)]
    course = [each for part, within in parts() for each in within if part != "More"]
    whole = hours([each for _, within in parts() for each in within])
    note = f'The lessons before "More" take {hours(course)}, all lessons {whole}.'
    return "\n".join([*lines, "", f'{note} The minutes after "+" are for the optional "Deeper" sections.', ""])


def more() -> str:
    """Return a Markdown table of the book's pages that no lesson needs."""
    within = dict(parts()).get("More", [])
    return "\n".join(["| page | question | minutes |", "| --- | --- | --- |", *_rows(within, ""), ""])


def _rows(within: Sequence[lesson.Lesson], ending: str) -> Iterator[str]:
    for each in within:
        yield f"| [{title(each)}](lessons/{each.slug}{ending}) | {each.meta['question']} | {each.minutes} |"


def routes(ending: str = ".md") -> str:
    """Return a Markdown table of the routes, with links to the lessons; `ending` as for `lessons`."""
    lines = ["| you have, or want | read | minutes |", "| --- | --- | --- |"]
    for route, names in ROUTES.items():
        chosen = _lessons(names)
        links = (f"[{short(each)}](lessons/{each.slug}{ending})" for each in chosen)
        lines.append(f"| {route} | {' · '.join(links)} | {hours(chosen)} |")
    return "\n".join([*lines, ""])


def contents() -> str:
    """Return the parts of the book's table of contents, as YAML. The pages of "More" stand below a page of its own."""
    lines = ["parts:"]
    found = dict(parts())
    for part in dict.fromkeys([*PARTS, *PAGES]):
        pages = [(page, "") for page in PAGES.get(part, ())]
        own = [(f"lessons/{each.slug}", short(each)) for each in found.get(part, ())]
        files = [*pages[:1], *own, *pages[1:]] if part == "Begin" else own + pages
        if not files:
            continue
        if part == "More":
            lines += ["  - chapters:", "      - file: more", "        sections:"]
        else:
            lines += [f"  - caption: {part}", "    chapters:"]
        for file, name in files:
            indent = "          " if part == "More" else "      "
            lines += [f"{indent}- file: {file}", *([f'{indent}  title: "{name}"'] if name else [])]
    return "\n".join([*lines, ""])


def parts() -> Iterator[tuple[str, list[lesson.Lesson]]]:
    """Yield the name of each part that has lessons, and its lessons."""
    for part, names in PARTS.items():
        if within := _lessons(names):
            yield part, within


def _lessons(names: Sequence[str]) -> list[lesson.Lesson]:
    by_number = {each.number: each for each in lesson.lessons_and_pages()}
    return [by_number[name] for name in names if name in by_number]


def title(each: lesson.Lesson) -> str:
    """Return a lesson's number and title, or a page's title."""
    return f"{each.number} · {each.title}" if each.number.isdigit() else each.title


def short(each: lesson.Lesson) -> str:
    """Return a lesson's number and the first words of its title."""
    return title(each).split(":")[0].split(",")[0]


def hours(lessons: Sequence[lesson.Lesson]) -> str:
    """Return the sum of the lessons' core minutes, such as `1 h 20 min`."""
    whole, minutes = divmod(sum(each.meta["minutes"] for each in lessons), 60)
    text = f"{whole} h {minutes:02} min" if whole else f"{minutes} min"
    return text.replace(" ", "\N{NO-BREAK SPACE}")
