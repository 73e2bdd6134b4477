"""What a run gave is kept whole and stamped, only if it is complete, and names nothing of the machine."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from fourways import book, files, lesson, profiling, toolchain
from fourways.book.record import anonymous, anonymous_report

STORED = Path(__file__).parents[1] / "data" / "doublify.ncu-rep"
LESSON = """---
fourways: {kernel: doublify, also: [scan], ways: [host]}
---

# A lesson of the tests

```{code-cell} python
:tags: [gpu]
print("on the GPU")
```

```{code-cell} python
from fourways import tables
tables.Table("numbers", [{"n": 1}], [("n", lambda row: str(row["n"]))])
```

```{code-cell} python
import os
print(os.getcwd(), os.path.expanduser("~/x"), "/tmp/fourways-abc/kernel.cu")
```
"""


@pytest.fixture
def clone(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small clone with one lesson, 05_test, on a machine that can run it."""
    shutil.copytree(root / "cpp", tmp_path / "cpp")
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "05_test.md").write_text(LESSON)
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    monkeypatch.setattr(toolchain, "missing", lambda need: None)
    stamp = toolchain.stamp() | {"device": "Test GPU 1"}
    monkeypatch.setattr(toolchain, "stamp", lambda: stamp)
    return tmp_path


def test_only_a_complete_run_is_recorded(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda need: f"no {need} here")
    with pytest.raises(book.RecordingError, match="05_test is not recorded.*1 cells skipped: no gpu here"):
        book.record(lesson.run_all([lesson.find("5")])[0])
    (clone / "lessons" / "05_test.md").write_text(LESSON.replace("import os\n", "1 / 0\n"))
    with pytest.raises(book.RecordingError, match="05_test is not recorded.*(?s:code cell 3:.*ZeroDivisionError)"):
        book.record(lesson.run_all([lesson.find("5")])[0])
    assert not (clone / "book").exists(), "nothing is written"


def test_a_package_that_may_be_missing_is_no_hole(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", {"torch": "no torch here", "gpu": "no gpu here"}.get)
    text = LESSON.replace("ways: [host]", "ways: [host], may_skip: [torch]")
    assert text != LESSON
    (clone / "lessons" / "05_test.md").write_text(text)
    with pytest.raises(book.RecordingError, match="1 cells skipped: no gpu here"):
        book.record(lesson.run_all([lesson.find("5")])[0])
    (clone / "lessons" / "05_test.md").write_text(text.replace("[gpu]", "[needs-torch]"))
    assert book.record(lesson.run_all([lesson.find("5")])[0])


def test_a_record_is_stamped_and_hides_the_machine(clone: Path) -> None:
    report = clone / "build" / "05_test" / "mine.ncu-rep"
    files.write_bytes(report, b"\x00" + f"{clone}/x".encode())
    found = lesson.find("5")
    recorded, results, given = book.record(lesson.run_all([found])[0])
    assert recorded == clone / "book" / "recorded" / "05_test.ipynb"
    assert results == clone / "book" / "results" / "test-gpu-1" / "05_test.json"
    notebook, kept = json.loads(recorded.read_text()), json.loads(results.read_text())
    assert kept["stamp"] == notebook["metadata"]["fourways"]["stamp"]
    assert (kept["stamp"]["device"], kept["stamp"]["sources"]) == ("Test GPU 1", book.fingerprint(found))
    assert kept["tables"] == {"numbers": [{"n": 1}]}
    assert str(clone) not in recorded.read_text() and str(Path.home()) not in recorded.read_text()
    assert "./lessons ~/x /tmp/…/kernel.cu" in recorded.read_text()
    assert given == clone / "book" / "figures" / "mine.ncu-rep"
    assert str(clone).encode() not in given.read_bytes() and len(given.read_bytes()) == len(report.read_bytes())


@pytest.mark.parametrize(
    "part, file, old, new",
    [
        ("cells", "lessons/05_test.md", "print(", "print(1, "),
        ("cells", "lessons/05_test.md", "[gpu]", "[gpu, measure]"),
        ("kernel", "cpp/kernels/doublify.cuh", "#define FACTOR 2", "#define FACTOR 3"),
        ("kernel", "cpp/kernels/scan.cuh", "{", "{ "),
    ],
)
def test_a_fingerprint_sees_cells_and_kernels(clone: Path, part: str, file: str, old: str, new: str) -> None:
    before, path = book.fingerprint(lesson.find("5")), clone / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    after = book.fingerprint(lesson.find("5"))
    assert [name for name in before if before[name] != after[name]] == [part]


BINDING = {
    "doublify.cu": '#include "doublify.cuh"\n',
    "doublify.cpp": '#include "checks.hpp"\n#include <vector>\n',
    "scan.cu": '#include "scratch.hpp"\n#include "reduce.cuh"\n',
    "checks.hpp": '#include "words.hpp"\n',
    "checks.cpp": '#include "checks.hpp"\n#include "protocols.hpp"\n',
    "words.hpp": '#include "checks.hpp"  // a circle\n',
    "protocols.hpp": "",
    "scratch.hpp": "",
}
OTHERS = {"module.cpp": '#include "checks.hpp"\n', "reduce.cu": '#include "words.hpp"\n', "reduce.cpp": ""}


@pytest.mark.parametrize("name", BINDING | OTHERS)
def test_a_fingerprint_sees_all_files_of_a_binding_and_no_other(clone: Path, name: str) -> None:
    aot = clone / "cpp" / "aot"
    shutil.rmtree(aot)
    for file, text in (BINDING | OTHERS).items():
        files.write_text(aot / file, text)
    before = book.fingerprint(lesson.find("5"))
    (aot / name).write_text(f"{(aot / name).read_text()}// changed\n")
    after = book.fingerprint(lesson.find("5"))
    assert [part for part in before if before[part] != after[part]] == ["binding"] * (name in BINDING)


def test_prose_is_free(clone: Path) -> None:
    before = book.fingerprint(lesson.find("5"))
    (clone / "lessons" / "05_test.md").write_text(LESSON.replace("A lesson of", "One lesson of"))
    assert book.fingerprint(lesson.find("5")) == before


def test_a_text_names_neither_clone_nor_environment_nor_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourways.kernels.root", lambda: Path("/srv/clone"))
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setattr(sys, "prefix", "/home/somebody/env")
    said = "/srv/clone-old/x /srv/clone/x /home/somebody/env/bin/python /home/somebody/x /tmp/a-1/x"
    assert anonymous(said) == "/srv/clone-old/x ./x venv/bin/python ~/x /tmp/…/x"
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setenv("HOME", "/")
    assert anonymous(f"text/plain {sys.base_prefix}/bin/x") == f"text/plain {sys.base_prefix}/bin/x"


def test_a_report_to_give_away_names_no_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stored report, as if it had just been made here."""
    report = STORED.read_bytes()
    machine = (b"*\x02vm0", b"192.0.2.2", b"fe80::", b"/opt/torch/.venv", b"/four-ways/cpp")
    assert all(part in report for part in machine), "what this test looks for"
    monkeypatch.setattr("socket.gethostname", lambda: "vm")
    monkeypatch.setattr("fourways.kernels.root", lambda: Path("/four-ways/cpp"))
    monkeypatch.setattr(sys, "prefix", "/opt/torch/.venv")
    given = tmp_path / "given.ncu-rep"
    given.write_bytes(anonymous_report(report))
    assert not [part for part in machine if part in given.read_bytes()]
    assert b"/venv___________/bin/python3 -m fourways" in given.read_bytes()
    assert profiling.read(given) == profiling.read(STORED), "it says what it said"


def test_names_of_any_length_are_replaced_and_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourways.kernels.root", lambda: Path("/a/b"))
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setattr(sys, "prefix", "/a/b/.venv")
    monkeypatch.setattr("socket.gethostname", lambda: "a-long-name")
    host = b"x86_64*\x0ba-long-name0\x02:\x0d\n\x09192.0.2.2\x10\x02"
    said = b"127.0.0.1 /a/b/cpp /a/b/.venv/bin/python /a/beta /home/somebody/x /usr/bin/python3 a-long-name 2025.3.1.0"
    cleaned = anonymous_report(host + said)
    assert cleaned[: len(host)] == b"x86_64*\x0bhost_______0\x02:\x0d\n\x09address__\x10\x02"
    there = b"127.0.0.1 /fou/cpp /fou/.venv/bin/python /a/beta /home_________/x /usr/bin/python3 a-long-name 2025.3.1.0"
    assert cleaned[len(host) :] == there


def test_another_device_does_not_replace_what_the_book_shows(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.write_bytes(clone / "build" / "05_test" / "mine.ncu-rep", b"report")
    run = lesson.run_all([lesson.find("5")])[0]
    for path in book.record(run)[:2]:
        assert path.is_file()
    before = {path: path.read_bytes() for path in (clone / "book").rglob("*") if path.is_file()}
    stamp = toolchain.stamp() | {"device": "My GPU"}
    monkeypatch.setattr(toolchain, "stamp", lambda: stamp)
    recorded, results = book.record(run)
    assert recorded == clone / "book" / "recorded" / "my-gpu" / "05_test.ipynb"
    assert results == clone / "book" / "results" / "my-gpu" / "05_test.json"
    assert {path: path.read_bytes() for path in before} == before
    assert lesson.results("05_test")[0].parent.name == "test-gpu-1", "the book's comes first, not by name"
    assert book.record(run) == [recorded, results], "again"
