"""The book's files for a release, and a lesson's buttons; test_build.py makes a whole release."""

import importlib.util
import shutil
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from typer.core import TyperGroup

from fourways import book, lesson
from fourways.book.merge import BookError
from fourways.book.release import _page

PAGE = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>A page</title>
<link rel="stylesheet" href="_static/epub.css"/><link rel="stylesheet" href="_static/book.css"/></head><body>
<input checked="checked" type="radio"><label class="sd-tab-label" for="tab">NVRTC</label>
<details><summary><p>A <b>fold</b></p><svg viewBox="0 0 1 1"/></summary><p>x</p></details>
<img class="only-dark" src="dark.svg" alt=""/><svg viewBox="0 0 1 1"><a href="01.html"><path d=""/></a></svg>
</body></html>"""


def test_an_epubs_page_is_xml_without_what_needs_a_browser() -> None:
    page = _page(PAGE)
    ElementTree.fromstring(page)
    assert '<p class="sd-tab-label">NVRTC</p>' in page and "<summary>A fold</summary>" in page
    assert "book.css" not in page and "epub.css" in page and "dark.svg" not in page and "<input" not in page
    assert page.count("<svg") == 1 and 'viewBox="0 0 1 1"' in page and 'href="01.xhtml"' in page


def test_without_chromium_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(BookError, match="apt install chromium"):
        book.release(TyperGroup())


@pytest.mark.parametrize("hosts", [{}, {"Colab": "https://colab.example/01.ipynb"}])
def test_a_lessons_buttons(root: Path, monkeypatch: pytest.MonkeyPatch, hosts: dict[str, str]) -> None:
    spec = importlib.util.spec_from_file_location("ways_in", root / "book" / "_ext" / "ways_in.py")
    assert spec and spec.loader
    spec.loader.exec_module(ways_in := importlib.util.module_from_spec(spec))
    monkeypatch.setattr(lesson, "hosts", lambda slug: hosts)
    groups = [{"label": "download-buttons", "buttons": [{"url": "_sources/x.ipynb"}, {"javascript": "window.print()"}]}]
    ways_in.add_buttons(SimpleNamespace(), "lessons/01_doublify", "page.html", {"header_buttons": groups}, None)
    addresses = [button.get("url") for group in groups for button in group["buttons"]]
    assert addresses == ["01_doublify.ipynb", "01_doublify.py", None, *hosts.values()]
