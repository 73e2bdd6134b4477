"""All pages of the book as files: where their links lead."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ADDRESS = re.compile(r'\s(?:href|src|xlink:href|data)="(?![a-z]+:|//)([^"#?]*)(?:\?[^"#]*)?(?:#([^"]*))?"')


@pytest.mark.long
def test_links_lead_somewhere(real: Path) -> None:
    paths = [path.resolve() for path in real.rglob("*.html") if "_static" not in path.parts]
    places = {path: {"", *re.findall(r'\s(?:id|name)="([^"]+)"', path.read_text(encoding="utf-8"))} for path in paths}
    for path in paths:
        for address, place in set(ADDRESS.findall(path.read_text(encoding="utf-8"))):
            file = (path.parent / unquote(address)).resolve() if address else path
            assert file.is_file(), f"{path.name} names {address}, which does not exist"
            assert file not in places or unquote(place) in places[file], f"{path.name}: {address} has no {place}"
