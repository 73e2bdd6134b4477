"""Build the book from the lessons' pages (`merge`) and the book's own pages."""

import logging
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import typer
from typer.cli import get_docs_for_click
from typer.core import TyperGroup

from fourways import files, kernels, lesson
from fourways.book import course, overview
from fourways.book.merge import BookError, merge, shown
from fourways.ways import WAYS

log = logging.getLogger(__name__)


def build(commands: TyperGroup, out: Path | None = None) -> Path:
    """Build the book into the folder `out` (default `build/book`) and return its `index.html`.

    The page on commands shows the help of each of `commands`. Lessons with cells that are not recorded are logged as
    warnings. Raises BookError, and leaves `out` as it is, if Jupyter Book is missing or its build gives any warning.
    """
    if not (find_spec("jupyter_book") and find_spec("jupyter_book.cli")):  # Jupyter Book 2 is another program
        raise BookError("Jupyter Book 1 is not installed in this Python. `make setup` installs it (the extra `book`).")
    import nbformat

    out = out or kernels.root() / "build" / "book"
    out.parent.mkdir(parents=True, exist_ok=True)
    files.sweep(out.parent, ".book-")
    with TemporaryDirectory(prefix=".book-", dir=out.parent) as folder:
        source = Path(folder, "source")
        assemble(source, commands)
        html = render(source, Path(folder, "output"))
        shutil.rmtree(html / "_sources" / "lessons")  # they hold solutions, which no download does
        for each in lesson.lessons_and_pages():
            nbformat.write(lesson.alone(each), html / "lessons" / f"{each.slug}.ipynb")
        if out.exists():
            out.rename(Path(folder, "old"))  # deleted with the temporary folder
        html.rename(out)
    return out / "index.html"


def assemble(source: Path, commands: TyperGroup) -> None:
    """Write everything that Jupyter Book needs into the new folder `source`.

    `source` gets a copy of `book/`, the lessons as notebooks in `lessons/`, and the help of `commands`.
    """
    import nbformat

    book = kernels.root() / "book"
    shutil.copytree(book, source, ignore=shutil.ignore_patterns("recorded"))
    (source / "lessons").mkdir()
    for each in lesson.lessons_and_pages():
        page = merge(each, recording := shown(each))
        if cells := lesson.unrecorded(each, recording):
            record = f"fourways run {each.number} --record"
            log.warning("%s: cells that are not recorded: %d. On a GPU: %s", each.slug, len(cells), record)
        for cell in page.cells:
            if cell.cell_type == "markdown":
                cell.source = re.sub(r"\]\((\w+)\.md\)", r"](\1.ipynb)", cell.source.replace("../book/", "../"))
        page.cells[0].source += "".join(f"\n\n```{{index}} ! {words}\n```" for words in each.meta.get("search", ()))
        page.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}  # knows `!command`
        nbformat.write(page, source / "lessons" / f"{each.slug}.ipynb")
    with (source / "_toc.yml").open("a", encoding="utf-8") as contents:
        contents.write(course.contents())
    made = {
        "_commands.md": _help(commands),
        "_lessons.md": course.lessons(ending=""),
        "_more.md": course.more(),
        "_routes.md": course.routes(ending=""),
        "_overview.md": overview.page(),
        "_static/ways.css": _way_styles(),
    }
    for name, text in made.items():
        (source / name).write_text(text, encoding="utf-8")


def _help(commands: TyperGroup) -> str:
    """Return the help of each command in Markdown, without the help of the group itself."""
    context = typer.Context(commands, help_option_names=[])  # no line on --help in each section
    text = get_docs_for_click(obj=commands, ctx=context, name="fourways")
    return text[text.index("\n## ") :]


def _way_styles() -> str:
    themes = {"": "colour", "html[data-theme=dark] ": "dark_colour"}
    return "".join(
        f"{theme}:is(.tag_way-{name}, .way-{name}) {{ --way: {getattr(way, colour)}; }}\n"
        for theme, colour in themes.items()
        for name, way in WAYS.items()
    )


def render(source: Path, output: Path) -> Path:
    """Run Jupyter Book with warnings as errors, and return the folder of HTML pages that it wrote.

    Raises BookError, which lists all warnings.
    """
    program = "from jupyter_book.cli.main import main; main(prog_name='jupyter-book')"
    options = ["-W", "-n", "--keep-going", "-q", "--path-output", str(output)]
    command = [sys.executable, "-c", program, "build", *options, str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    html = output / "_build" / "html"
    if done.returncode or not (html / "index.html").is_file():
        said = files.plain(done.stderr + done.stdout).replace(f"{source}/", "")
        warnings = [line for line in said.splitlines() if re.search("WARNING|ERROR", line)]
        raise BookError("\n".join(["The book was not built:", *(warnings or [said.strip()[-2000:]])]))
    return html
