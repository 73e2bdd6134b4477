"""The repository's address on the web, and the links that open a lesson at a host of notebooks.

The address stands once, in CITATION.cff. While it is not filled in there, there are no such links.
"""

import re

from fourways import kernels

PAGES = "gh-pages"
"""The branch with the published book, which holds each lesson's notebook beside its page."""
_HOSTS = {
    "Colab": "https://colab.research.google.com/github/{repository}/blob/{path}",
    "Kaggle": "https://www.kaggle.com/kernels/welcome?src=https://github.com/{repository}/blob/{path}",
}


def address() -> str | None:
    """Return the repository's address, without `.git` or a slash at its end, or None while it is not filled in."""
    file = kernels.root() / "CITATION.cff"
    match = re.search(
        r"""^repository-code: *["']?(https://[^\s"']+)""", file.read_text("utf-8") if file.exists() else "", re.M
    )
    return match[1].removesuffix("/").removesuffix(".git") if match else None


def with_address(text: str) -> str:
    """Return `text` with the repository's address in its `git clone … four-ways`, if the address is filled in."""
    return re.sub(r"(?<=git clone )\S+(?= four-ways)", lambda match: address() or match[0], text)


def hosts(slug: str) -> dict[str, str]:
    """Return the links that open the notebook of lesson `slug` at Colab and Kaggle, by the host's name.

    Both hosts open public notebooks from GitHub alone; there are no links for another address.
    """
    where = address() or ""
    if not where.startswith("https://github.com/"):
        return {}
    repository = where.removeprefix("https://github.com/")
    path = f"{PAGES}/lessons/{slug}.ipynb"
    return {name: link.format(repository=repository, path=path) for name, link in _HOSTS.items()}
