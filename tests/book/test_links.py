"""All pages of the book as files: where their links lead, what they load, and how much of it."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

LOADING = {"script", "img", "source", "iframe", "video", "audio", "embed", "object", "use", "image", "link"}
"""Elements that load what they name. A `link` also states relations, such as `canonical`, which load nothing."""
LARGEST = 1_500_000
"""Bytes of a page with its own images."""


class Page(HTMLParser):
    """The places of a page that links may name, its links, and the addresses of what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = {""}
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the element's name and addresses."""
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        sources = [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        sources += [given[name] for name in ("src", "href", "xlink:href", "data") if name in given]
        (self.loads if tag in LOADING else self.links).extend(sources)

    handle_startendtag = handle_starttag


def outside(address: str) -> bool:
    """Return whether an address needs a network or another program."""
    return bool(urlsplit(address).scheme not in ("", "data") or urlsplit(address).netloc)


def target(page: Path, address: str) -> tuple[Path, str]:
    """Return the file that a relative address names from a page, and the place in it."""
    parts = urlsplit(address)
    return (page.parent / unquote(parts.path)).resolve() if parts.path else page, unquote(parts.fragment)


def flaws(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the pages of `folder`: dead links and places, outside sources, large pages."""
    files = {path.resolve(): path for path in folder.rglob("*.html") if "_static" not in path.parts}
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in files}
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        yield from (f"{name} loads {address}" for address in page.loads if outside(address))
        size = path.stat().st_size
        for address in sorted({*page.loads, *page.links}):
            if outside(address) or address.startswith("data:"):
                continue
            file, place = target(path, address)
            if not file.is_file():
                yield f"{name} names {address}, which does not exist"
            elif file in pages and place not in pages[file].places:
                yield f"{name} names {address}, and that page has no such place"
            elif address in page.loads and file.suffix in (".svg", ".png", ".jpg", ".webp"):
                size += file.stat().st_size
        if size > LARGEST:
            yield f"{name} and its images have {size} bytes"
    for style in folder.rglob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", style.read_text(encoding="utf-8"), flags=re.DOTALL)
        for address in re.findall(r"url\([\"']?([^\"')]+)|@import\s+[\"']([^\"']+)", text):
            if outside("".join(address)):
                yield f"{style.relative_to(folder)} loads {''.join(address)}"


@pytest.mark.long
def test_links_lead_somewhere_and_pages_are_light_and_load_nothing_from_outside(real: Path) -> None:
    assert list(flaws(real)) == []
