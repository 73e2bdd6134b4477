"""The book as files for a release, named by version: an archive of its pages, an EPUB, a PDF, and checksums."""

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from typer.core import TyperGroup

from fourways import __version__, files, kernels
from fourways.book.build import assemble, build, render
from fourways.book.merge import BookError
from fourways.book.record import digest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_STYLES = ("pygments.css", "epub.css")
"""The style sheets that an EPUB keeps: the others are for a browser, and some readers cannot parse them."""
_NOT_ON_PAPER = "input, button, summary svg, .only-dark, .sd-summary-state-marker"
_EPUB_STYLE = """
pre, table { font-size: 0.75em; }
pre { white-space: pre-wrap; }
.highlight { background: none; }
td, th { padding: 0.2em 0.4em; text-align: left; border-bottom: 1px solid #999; }
.sd-tab-label, .admonition-title, summary { font-weight: bold; }
"""


def release(commands: TyperGroup) -> list[Path]:
    """Build the book, write it as files for a release into the folder `build/release-files`, and return their paths.

    The folder is replaced as a whole: `four-ways-VERSION.zip`, with the pages as `build/book` has them, `.epub`,
    `.pdf`, and `SHA256SUMS`. Raises BookError, and leaves the folder unchanged, if the book cannot be built, or if
    there is no Chromium to print the PDF.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise BookError("There is no Chromium, which prints the PDF: on Debian, `apt install chromium`.")
    out = kernels.root() / "build" / "release-files"
    name = f"four-ways-{__version__}"
    pages = build(commands).parent
    with TemporaryDirectory(prefix=".release-", dir=pages.parent) as folder:
        work, made = Path(folder), Path(folder, "made")
        made.mkdir()
        shutil.copytree(pages, work / name)
        shutil.make_archive(str(made / name), "zip", work, name)
        assemble(work / "source", commands)
        _tidy(next(render(work / "source", work / "epub", "epub").glob("*.epub")), made / f"{name}.epub")
        _print(browser, render(work / "source", work / "single", "singlehtml") / "index.html", made / f"{name}.pdf")
        sums = (f"{digest([path.read_bytes()])}  {path.name}\n" for path in sorted(made.iterdir()))
        (made / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
        if out.exists():
            out.rename(work / "old")  # deleted with the temporary folder
        made.rename(out)
    return sorted(out.iterdir())


def _print(browser: str, page: Path, pdf: Path) -> None:
    """Print a page to a PDF with an outline. A browser would leave out pictures that it loads only when scrolled to."""
    page.write_text(page.read_text(encoding="utf-8").replace(' loading="lazy"', ""), encoding="utf-8")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses root
    options = ["--headless=new", "--disable-gpu", "--no-pdf-header-footer", "--generate-pdf-document-outline", *sandbox]
    command = [browser, *options, f"--print-to-pdf={pdf}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode or not pdf.is_file():
        raise BookError(f"Chromium did not print the PDF:\n{files.plain(done.stderr).strip()[-2000:]}")


def _tidy(epub: Path, tidied: Path) -> None:
    """Write an EPUB of Sphinx's so that it follows EPUB's rules, which its extensions' HTML breaks."""
    with zipfile.ZipFile(epub) as old, zipfile.ZipFile(tidied, "w", zipfile.ZIP_DEFLATED) as new:
        contents = {entry.filename: old.read(entry) for entry in old.infolist()}  # `mimetype` first
        drawn = []
        for name, content in contents.items():
            if name.endswith(".xhtml") and name != "nav.xhtml":
                contents[name] = _page(content.decode()).encode()
                drawn += [name] * (b"<svg" in contents[name])
            elif name.endswith(".svg"):
                contents[name] = re.sub(rb"<!DOCTYPE.*?>", b"", content, count=1, flags=re.DOTALL)
        contents["_static/epub.css"] += _EPUB_STYLE.encode()
        package = contents["content.opf"].decode()
        for name in [name for name in contents if name.endswith((".css", ".js")) and Path(name).name not in _STYLES]:
            del contents[name]
            package = re.sub(rf'\s*<item [^>]*href="{re.escape(name)}"[^>]*/>', "", package)
        for name in drawn:
            package = package.replace(f' href="{name}"', f' href="{name}" properties="svg"', 1)
        contents["content.opf"] = package.encode()
        for name, content in contents.items():
            new.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)


def _page(xhtml: str) -> str:
    """Return a page without what needs a browser: tabs follow one another, and folds have plain summaries."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup(xhtml, "html.parser")
    for unwanted in page.select(_NOT_ON_PAPER):
        unwanted.decompose()
    for link in page.select("link[rel=stylesheet]"):
        if Path(str(link["href"])).name not in _STYLES:
            link.decompose()
    for summary in page.select("summary"):
        summary.string = " ".join(summary.get_text(" ").split())
    for label in page.select("label.sd-tab-label"):
        label.name, label.attrs = "p", {"class": label["class"]}
    for drawing in page.select("svg"):
        drawing["xmlns"] = "http://www.w3.org/2000/svg"
        for link in drawing.select("a"):
            link["href"] = str(link["href"]).replace(".html", ".xhtml")
    return page.decode().replace("viewbox=", "viewBox=")  # the parser writes attributes in lower case
