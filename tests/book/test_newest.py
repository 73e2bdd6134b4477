"""The book by the newest Sphinx: the same pages, without a warning."""

import re
from pathlib import Path

import pytest
from newest import NewestError, sphinx

pytest.importorskip("jupyter_book")


@pytest.mark.long
def test_the_newest_sphinx_builds_the_same_pages_without_a_warning(real: Path, tmp_path: Path) -> None:
    try:
        versions = sphinx(tmp_path)
    except NewestError as error:
        if re.search("dns error|error sending request", str(error)):
            pytest.skip("no package index can be reached")
        raise
    assert int(versions["sphinx"].split(".")[0]) > 7, "Jupyter Book 1 builds with that"
    pages = [path for path in real.rglob("*.html") if "_static" not in path.parts]
    for page in pages:
        text = (tmp_path / "html" / page.relative_to(real)).read_text(encoding="utf-8")
        for part in ('class="deeper"', "sd-tab-set ways", "predict admonition", "<img"):
            assert text.count(part) == page.read_text(encoding="utf-8").count(part), (page.name, part)
