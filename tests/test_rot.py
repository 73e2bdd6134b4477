"""`make rot`: what it asks for, what it counts as an error, and its report."""

import re
import subprocess
import sys
from pathlib import Path

import newest
import pytest
import rot
from rot import Outcome, culprit, dependencies, report, strict

MODULES = {"sphinx": "sphinx", "cupy": "cupy-cuda13x", "cupy-cuda13x": "cupy-cuda13x"}


def test_dependencies_have_no_bounds_and_none_needs_a_gpu() -> None:
    names = dependencies()
    assert "cupy-cuda13x" in names and "cuda-core[cu13]" in names
    assert [name for name in names if re.search(r"[<>=~;]|^torch|^pycuda", name)] == ["jupyter-book<2"]


def test_a_deprecation_is_an_error_where_our_own_code_causes_it(tmp_path: Path) -> None:
    """PYTHONWARNINGS takes whole names of modules only, so each module of the package must be in it."""
    assert "error::DeprecationWarning:fourways.book.build," in strict() and ":fourways.book," in strict()
    (tmp_path / "other.py").write_text("import warnings; warnings.warn('theirs', DeprecationWarning)")
    for code, status in (("import other", 0), ("import warnings; warnings.warn('ours', DeprecationWarning)", 1)):
        environment = {"PYTHONWARNINGS": strict(), "PYTHONPATH": str(tmp_path)}
        assert subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True).returncode == status


def test_pages_of_two_builders_are_compared_by_their_parts(tmp_path: Path) -> None:
    for builder, text in (("html", "<p>"), ("book", '<p><img src="a.svg">')):
        (tmp_path / builder).mkdir()
        (tmp_path / builder / "a.html").write_text(text)
    newest.compare(tmp_path / "book", tmp_path / "book")
    with pytest.raises(newest.NewestError, match=r"a.html by the newest Sphinx differs in \['<img'\]"):
        newest.compare(tmp_path / "html", tmp_path / "book")
    (tmp_path / "html" / "b.html").write_text("<p>")
    with pytest.raises(newest.NewestError, match="only one of Jupyter Book and the newest Sphinx made b.html"):
        newest.compare(tmp_path / "html", tmp_path / "book")


def test_a_task_that_does_not_end_keeps_what_it_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (slow := tmp_path / "python").write_text("#!/bin/sh\necho first; exec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(rot, "CLONE", tmp_path)
    monkeypatch.setattr(rot, "LIMIT", 3)
    assert rot.attempt("book", slow).error == "first\n\nno end after 3 seconds"


def test_a_failure_is_charged_to_the_dependency_that_it_names_last() -> None:
    traceback = 'File "/e/site-packages/sphinx/a.py"\nFile "/e/site-packages/cupy/b.py"\nValueError: no sphinx'
    assert culprit(traceback, MODULES) == "cupy-cuda13x"
    assert culprit("No module named 'sphinx'", MODULES) == "sphinx"
    assert culprit("ZeroDivisionError", MODULES) == ""
    assert culprit('File "/e/binding.py", line 3', {"py": "pytest"}) == ""


def test_the_report_names_versions_failures_and_warnings() -> None:
    versions = {
        "cupy-cuda13x": {"pinned": "14.2", "tried": "15.0", "newest": "15.0"},
        "jupyter-book": {"pinned": "1.0.4", "tried": "1.0.4", "newest": "2.1.7"},
        "sphinx": {"pinned": "7.4.7", "tried": "9.0.4", "newest": "9.2.0"},
    }
    outcomes = [
        Outcome("01", 3.2, "site-packages/cupy/b.py\nAttributeError: gone", []),
        Outcome("02", 1.0, "", ["FutureWarning: cupy changes"]),
        Outcome("03", 1.0, "killed", []),
    ]
    page = report(versions, outcomes, MODULES, ["01", "02", "03", "tests"])
    assert "- The run has not ended. Without a result: tests.\n" in page
    assert "not ended" not in report(versions, outcomes, MODULES, ["01", "02", "03"])
    assert "- 1 of 3 tasks pass with" in page
    assert "- **`01` fails:** `AttributeError: gone`. The output names cupy-cuda13x last.\n" in page
    assert "- **`03` fails:** `killed`.\n" in page
    assert "- `02` passes, but prints warnings.\n" in page
    newer = (
        "- 2 of 3 direct dependencies are newer here than in `requirements.lock`: cupy-cuda13x 15.0, sphinx 9.0.4.\n"
    )
    assert newer in page
    unfit = "because it does not fit the other packages. Version 9.0.4 was tried instead.\n"
    assert f"- sphinx 9.2.0 was not tried, {unfit}" in page
    assert "- jupyter-book 2.1.7 was not tried, because version 2 is another program," in page
    assert "| cupy-cuda13x | 14.2 | 15.0 | failure of 01, warning in 02 |" in page
    assert "| sphinx | 7.4.7 | 9.2.0 (tried: 9.0.4) |  |" in page
    assert "No direct dependency is named by: failure of 03." in page
    assert (
        "| 01 | 3 | failed |" in page and "## 01\n\n```text\nsite-packages/cupy/b.py\nAttributeError: gone\n```" in page
    )
