"""All pages of the book as files: where their links lead."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest


class Page(HTMLParser):
    """The places of a page that links may name, and the addresses of its links and of what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = {""}
        self.addresses: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the element's name and addresses."""
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        self.addresses |= {part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()}
        self.addresses |= {given[name] for name in ("src", "href", "xlink:href", "data") if name in given}

    handle_startendtag = handle_starttag


def target(page: Path, address: str) -> tuple[Path, str]:
    """Return the file that a relative address names from a page, and the place in it."""
    parts = urlsplit(address)
    return (page.parent / unquote(parts.path)).resolve() if parts.path else page, unquote(parts.fragment)


def flaws(folder: Path) -> Iterator[str]:
    """Yield the dead links of the pages of `folder`, to files and to places in pages."""
    paths = [path.resolve() for path in folder.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for address in sorted(page.addresses):
            if urlsplit(address).scheme or urlsplit(address).netloc:
                continue
            file, place = target(path, address)
            if not file.is_file():
                yield f"{name} names {address}, which does not exist"
            elif file in pages and place not in pages[file].places:
                yield f"{name} names {address}, and that page has no such place"


@pytest.mark.long
def test_links_lead_somewhere(real: Path) -> None:
    assert list(flaws(real)) == []
