"""Builds the book with the newest Sphinx: `make book-sphinx`, or `python tests/newest.py FOLDER`.

Jupyter Book 1 holds Sphinx at version 7. This build shows that the book's source needs neither. It takes the newest
Sphinx, MyST-NB, theme and extensions that this Python can install, in an environment of their own; a warning is an
error, and so is a reference that leads nowhere (`-W -n`). Then Jupyter Book builds it, too: both must make the same
pages, each with as many folds, tabs, predictions and images in one build as in the other.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from typer.main import get_command

from fourways import book, cli, install

ROOT = Path(__file__).parents[1]
SPHINX = (
    "sphinx",
    "myst-nb",
    "sphinx-book-theme",
    "sphinx-copybutton",
    "sphinx-design",
    "sphinx-external-toc",
    "sphinxcontrib-bibtex",
    *("numpy", "packaging"),  # which this package imports, and the book's extensions import this package
)
OF_JUPYTER_BOOK = {"jupyter_book", "sphinx_comments"}
"""Extensions in `_config.yml` that only Jupyter Book needs."""
PARTS = ('class="deeper"', "sd-tab-set ways", "predict admonition", "<img")
"""What a fold, the ways' tabs, a prediction and an image begin with in a page."""


class NewestError(RuntimeError):
    """Packages that cannot be installed, or a build with warnings. The message holds what the program printed."""


def run(*command: object, env: dict[str, str] | None = None) -> str:
    """Return what a command prints to standard output. Raises NewestError if it fails."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=env)
    if done.returncode:
        raise NewestError(f"{Path(str(command[0])).name} failed:\n{(done.stderr + done.stdout).strip()}")
    return done.stdout


def environment(folder: Path, requirements: Iterable[str]) -> tuple[Path, dict[str, str]]:
    """Install the newest of `requirements` into the virtual environment `folder`, which is made if it is not there.

    Returns its interpreter, and the versions of all its packages by name. Raises NewestError without uv or network.
    """
    uv = install.find_uv()
    if uv is None:
        raise NewestError("uv is not here: `make setup` brings it")
    python = folder / "bin" / "python"
    run(uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, folder)
    run(uv, "pip", "install", "--quiet", "--upgrade", "--python", python, *requirements)
    frozen = run(uv, "pip", "freeze", "--python", python)
    return python, dict(re.findall(r"(?m)^([\w.-]+)==(\S+)$", frozen))


def sphinx(folder: Path) -> dict[str, str]:
    """Build the book into `folder/html`, and return the versions of the packages that built it.

    Raises NewestError with the warnings if there are any, or if the pages differ from Jupyter Book's in their parts.
    """
    python, versions = environment(folder / "env", SPHINX)
    if int(versions["sphinx"].split(".")[0]) <= 7:
        raise NewestError(f"Sphinx {versions['sphinx']} was installed; wanted a newer one than Jupyter Book's, 7")
    source, html = folder / "source", folder / "html"
    for old in (source, html):
        shutil.rmtree(old, ignore_errors=True)
    pages = book.pages(get_command(cli.app))
    book.assemble(source, pages)
    program = "from jupyter_book.cli.main import main; main(prog_name='jupyter-book')"
    run(sys.executable, "-c", program, "config", "sphinx", source)
    with (source / "conf.py").open("a", encoding="utf-8") as conf:
        conf.write(f"extensions = [name for name in extensions if name not in {OF_JUPYTER_BOOK!r}]\n")
    paths = os.pathsep.join(map(str, (ROOT / "scripts", source / "_ext")))
    options = ("-W", "-n", "--keep-going", "-q", "-d", folder / "doctrees")
    run(python, "-m", "sphinx", *options, source, html, env={**os.environ, "PYTHONPATH": paths})
    book.build(pages, folder / "book")
    compare(html, folder / "book")
    return versions


def compare(html: Path, built: Path) -> None:
    """Raise NewestError, which names the page, unless `html` and `built` have the same pages with equal parts."""
    pages, others = (
        {path.relative_to(folder) for path in folder.rglob("*.html") if "_static" not in path.parts}
        for folder in (html, built)
    )
    if lone := sorted(map(str, pages ^ others)):
        raise NewestError(f"only one of Jupyter Book and the newest Sphinx made {', '.join(lone)}")
    for page in sorted(pages):
        ours, theirs = ((folder / page).read_text(encoding="utf-8") for folder in (html, built))
        if lacks := [part for part in PARTS if ours.count(part) != theirs.count(part)]:
            raise NewestError(f"{page} by the newest Sphinx differs in {lacks}")


if __name__ == "__main__":
    try:
        versions = sphinx(Path(sys.argv[1]).resolve())
    except RuntimeError as error:  # of a build, and ours
        sys.exit(str(error))
    print("The book, by", ", ".join(f"{name} {versions[name]}" for name in SPHINX))
    print(f"{sys.argv[1]}/html/index.html")
