"""The book's table of which lesson compiles for which GPU: what NVRTC and nvcc say of each lesson's kernels.

`python -m fourways.book architectures` compiles those that have changed, and writes `book/architectures.json`. All of
them take minutes, so the book is built from the file. A lesson's kernels are the files that its front matter names, and
each text with a `__global__` function in its code cells, without cells tagged `exercise`.
"""

import ast
import itertools
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from typing import Any

from fourways import building, files, kernels, lesson, tables, toolchain
from fourways.book import course
from fourways.book.record import digest

GENERATIONS = {
    "75": "Turing",
    "80": "Ampere",
    "86": "Ampere",
    "89": "Ada",
    "90": "Hopper",
    "100": "Blackwell",
    "120": "Blackwell",
}
"""The name of each architecture of `toolchain.ARCHITECTURES`."""


def file() -> Path:
    """Return the path of the file with all that the compilers said."""
    return kernels.root() / "book" / "architectures.json"


def texts(target: lesson.Lesson) -> dict[str, Path | str]:
    """Return the kernels of a lesson by name: the paths of its files, and the texts in its code cells."""
    files_of: dict[str, Path | str] = {f"{name}.cuh": kernels.path(name) for name in target.kernels}
    cells = (cell for cell in target.notebook.cells if cell.cell_type == "code" and "exercise" not in lesson.tags(cell))
    texts_of = (text for cell in cells for text in _strings(cell.source) if "__global__" in text)
    return files_of | {f"text {number}": text for number, text in enumerate(texts_of, 1)}


def _strings(code: str) -> Iterator[str]:
    """Yield the strings in a cell's Python; `!command` and `%magic` lines do not count."""
    try:
        parsed = ast.parse(re.sub(r"(?m)^(\s*)[!%].*$", r"\1pass", code))
    except SyntaxError:  # the text of another program, by a cell magic
        return
    for node in ast.walk(parsed):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def compiled(target: lesson.Lesson) -> dict[str, Any]:
    """Compile a lesson's kernels by NVRTC and by nvcc, and return what the compilers say of each.

    `sources` is the SHA-256 of the texts. `kernels` holds by the kernel's name, compiler and architecture ("90") the
    registers per thread of its largest entry point. A compiler that refuses a kernel gives the first error instead.
    """
    sources = {name: files.source_file(text) for name, text in texts(target).items()}

    def ask(each: tuple[str, str, str]) -> int | str:
        name, compiler, arch = each
        try:
            return building.build(sources[name], compiler, arch).registers
        except building.BuildError as refusal:
            return refusal.brief

    questions = list(itertools.product(sources, building.COMPILERS, toolchain.ARCHITECTURES))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(ask, questions))
    said: dict[str, Any] = {}
    for (name, compiler, arch), answer in zip(questions, answers, strict=True):
        said.setdefault(name, {}).setdefault(compiler, {})[arch] = answer
    return {"sources": digest(map(_bytes, sources.values())), "kernels": said}


def _bytes(source: Path | str) -> bytes:
    return source.read_bytes() if isinstance(source, Path) else source.encode()


def main() -> None:
    """Ask the compilers about the lessons that have changed, or with new compilers about all; write `file()`."""
    stamp = {key: value for key, value in toolchain.stamp().items() if key in ("nvcc", "nvrtc", "date")}
    before = json.loads(file().read_text(encoding="utf-8")) if file().is_file() else {"stamp": {}, "lessons": {}}
    same = all(before["stamp"].get(key) == stamp[key] for key in ("nvcc", "nvrtc"))
    lessons = {}
    for each in lesson.lessons_and_pages():
        if same and up_to_date(each, before["lessons"]):
            lessons[each.slug] = before["lessons"][each.slug]
        else:
            print(each.slug, file=sys.stderr)
            lessons[each.slug] = compiled(each)
    files.write_text(file(), json.dumps({"stamp": stamp, "lessons": lessons}, indent=1) + "\n")


def rows() -> list[tables.Row]:
    """Return a row for each lesson: its number of kernels, and by architecture "yes", "no", "ran", or "–".

    "yes": each kernel is compiled by at least one of the two compilers. "ran": the lesson is recorded on such a GPU.
    "–": the file says nothing of the lesson as it is today. A text that both compilers refuse for every architecture
    is no kernel by itself, and does not count. `bytes` are those of the largest timed call that was recorded. Only rows
    with `seconds` are calls: the `bytes` of others are those of files, or of the memory of processes.
    """
    said = json.loads(file().read_text(encoding="utf-8"))["lessons"]
    made: list[tables.Row] = []
    for target in lesson.lessons_and_pages():
        row: tables.Row = {"lesson": target, "kernels": 0, **dict.fromkeys(toolchain.ARCHITECTURES, "–")}
        if up_to_date(target, said):
            whole = [by for by in said[target.slug]["kernels"].values() if any(map(_takes, by.values()))]
            row["kernels"] = len(whole)
            for arch in toolchain.ARCHITECTURES if whole else ():
                row[arch] = (
                    "yes" if all(any(_takes({arch: each[arch]}) for each in by.values()) for by in whole) else "no"
                )
        ran, row["bytes"] = _recorded(target)
        made.append(row | dict.fromkeys(ran, "ran"))
    return made


def up_to_date(target: lesson.Lesson, said: Mapping[str, Any]) -> bool:
    """Return whether `said`, the lessons of the file, holds what the compilers said of today's kernels."""
    sources = [_bytes(source) for source in texts(target).values()]
    return target.slug in said and said[target.slug]["sources"] == digest(sources)


def _takes(answers: Mapping[str, int | str]) -> bool:
    return any(isinstance(answer, int) for answer in answers.values())


def _recorded(target: lesson.Lesson) -> tuple[set[str], int]:
    """Return the architectures on which a lesson is recorded, and the bytes of the largest call that was timed."""
    archs, most = set(), 0
    for path in (kernels.root() / "book" / "results").glob(f"*/{target.slug}.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        archs.add(content["stamp"]["compute_capability"].replace(".", ""))
        timed = [row.get("bytes") or 0 for rows in content["tables"].values() for row in rows if "seconds" in row]
        most = max(most, *timed, 0)
    return archs & set(toolchain.ARCHITECTURES), most


def page() -> str:
    """Return the table for the book as HTML in MyST, with links to the lessons and the compilers' versions."""
    stamp = json.loads(file().read_text(encoding="utf-8"))["stamp"]
    shown = rows()
    names = {row["lesson"].slug: course.title(row["lesson"]).partition(":")[0] for row in shown}
    columns: list[tables.Column] = [
        ("lesson", lambda row: names[row["lesson"].slug]),
        *((f"{GENERATIONS[arch]} sm_{arch}", arch) for arch in toolchain.ARCHITECTURES),
        ("largest call", lambda row: f"{row['bytes'] / 1e9:.2f} GB" if row["bytes"] else ""),
    ]
    note = f"Compiled by nvcc {stamp['nvcc']} and NVRTC {stamp['nvrtc']} on {stamp['date'][:10]}."
    html = tables.Table("architectures", shown, columns, note)._repr_mimebundle_()["text/html"]
    html = re.sub(r" (sm_\d+</th>)", r"<br>\1", html)
    for slug, name in names.items():
        html = html.replace(f"<td>{escape(name)}<", f'<td><a href="lessons/{slug}.html">{escape(name)}</a><', 1)
    return f':::{{div}} recorded\n<div class="output text_html">{html}</div>\n:::\n'
