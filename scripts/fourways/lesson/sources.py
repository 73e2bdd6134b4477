"""Citations in notebooks: each becomes authors, year and a link, from the book's list of sources."""

import re

from fourways import kernels

_ENTRY = re.compile(r"^@\w+\{([^,\s]+),\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", re.MULTILINE)
_CITATION = re.compile(r"\{cite\}`([^`]+)`")
_UMLAUTS = {r"{\"a}": "ä", r"{\"o}": "ö", r"{\"u}": "ü"}


def cited(text: str, sources: dict[str, str]) -> str:
    """Return a lesson's text with each citation as links in parentheses: `([Lawson et al., 1979](https://...))`."""
    return _CITATION.sub(lambda match: f"({'; '.join(sources[key.strip()] for key in match[1].split(','))})", text)


def sources() -> dict[str, str]:
    """Return the sources in `book/references.bib` by key: authors and year as a Markdown link, or with the title."""
    text = (kernels.root() / "book" / "references.bib").read_text(encoding="utf-8")
    return {key: _link(dict(_FIELD.findall(fields))) for key, fields in _ENTRY.findall(text)}


def _link(fields: dict[str, str]) -> str:
    names = _families(fields["author"]) if "author" in fields else _plain(fields["howpublished"])
    url = fields.get("url") or (f"https://doi.org/{fields['doi']}" if "doi" in fields else "")
    title = _plain(fields["title"]).replace("`", "'").replace('"', "'")
    return f'[{names}, {fields["year"]}]({url} "{title}")' if url else f"{names}, {fields['year']}: *{title}*"


def _families(authors: str) -> str:
    """Return the family names of one or two authors, or of more authors the first and `et al.`"""
    first, *others = [_family(name) for name in authors.split(" and ")]
    if len(others) == 1 and others != ["others"]:
        return f"{first} and {others[0]}"
    return f"{first} et al." if others else first


def _family(name: str) -> str:
    """Return `Saad` for `Saad, Yousef`, `van Werkhoven` for `Ben van Werkhoven`, and all of an organisation's name.

    BibTeX writes an organisation's name in braces.
    """
    if name.startswith("{") or "," in name:
        return _plain(name.partition(",")[0])
    *given, last = name.split()
    return _plain(" ".join([*(word for word in given if word.islower()), last]))


def _plain(text: str) -> str:
    """Return LaTeX text without its braces and escapes."""
    for written, letter in _UMLAUTS.items():
        text = text.replace(written, letter)
    return re.sub(r"[{}]", "", text.replace(r"\_", "_"))
