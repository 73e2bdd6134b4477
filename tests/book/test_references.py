"""The book's sources: each is cited and has a link."""

import re
from pathlib import Path

CITED = re.compile(r"\{cite\}`([^`]+)`")


def test_every_source_is_cited_and_has_a_link(root: Path) -> None:
    entries = re.split(r"\n(?=@)", (root / "book" / "references.bib").read_text())
    linked = {
        key[1]: bool(re.search(r"\b(url|doi) = ", entry))
        for entry in entries
        if (key := re.match(r"@\w+{(.+),", entry))
    }
    assert [key for key, link in linked.items() if not link] == []
    texts = [path.read_text() for folder in ("book", "lessons") for path in (root / folder).glob("*.md")]
    cited = {key.strip() for text in texts for group in CITED.findall(text) for key in group.split(",")}
    assert linked.keys() == cited
