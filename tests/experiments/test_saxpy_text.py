"""What lesson 02 tries with a kernel's text, as far as it needs no GPU."""

import hashlib
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fourways import kernels, process
from fourways.experiments import saxpy_text


def digest(headers: Sequence[Path]) -> str:
    each = b"".join(hashlib.sha256(path.read_bytes()).digest() for path in headers)
    return f"-DUNUSED=0x{hashlib.sha256(each).hexdigest()[:16]}"


def tail(headers: Sequence[Path]) -> str:
    each = b"".join(hashlib.sha256(path.read_bytes()[-60:]).digest() for path in headers)
    return f"-DUNUSED=0x{hashlib.sha256(each).hexdigest()[:16]}"


def joined(headers: Sequence[Path]) -> str:
    return f"-DUNUSED=0x{hashlib.sha256(b''.join(path.read_bytes() for path in headers)).hexdigest()[:16]}"


def test_options_change_loads_and_arithmetic() -> None:
    text = kernels.source("saxpy")
    rows = saxpy_text.options_table(text, ["", "-DVECTOR=1", "-ftz=true -ftz=false", "-ftz=false -ftz=true"]).rows
    none, single, kept, flushed = rows
    assert any("v4" in load for load in none["loads"]) and not any("v4" in load for load in single["loads"])
    assert single["instructions"] < none["instructions"]
    assert kept["arithmetic"] == ["fma.rn.f32"], "the last option wins"
    assert flushed["arithmetic"] == ["fma.rn.ftz.f32"], "the last option wins"


def test_a_digest_of_each_header_is_right() -> None:
    assert saxpy_text.check_header_option(digest).startswith("Right")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda headers: None, "None came"),
        (lambda headers: f"UNUSED={hashlib.sha256(headers[0].read_bytes()).hexdigest()}", "defines a macro"),
        (lambda headers: "-DUNUSED=1", "header 1 of 1"),
        (lambda headers: f"-DUNUSED={sum(path.stat().st_size for path in headers)}", "define A 7"),
        (lambda headers: f"-DUNUSED={sum(sum(path.read_bytes()) for path in headers)}", "define B 32"),
        (lambda headers: digest([headers[0], headers[-1]]), "header 2 of 3"),
        (lambda headers: f"-DUNUSED={zlib.crc32(headers[0].read_bytes().splitlines()[0])}", "define D 4"),
        (tail, "1 line of a comment"),
        (lambda headers: f"-DUNUSED={sum(zlib.crc32(path.read_bytes()) for path in headers)}", "changed places"),
        (lambda headers: f"-DUNUSED={abs(hash(tuple(path.read_text() for path in headers)))}", "`hash` gives"),
        (lambda headers: f"-DUNUSED={sum(path.stat().st_mtime_ns for path in headers)}", "a file's date"),
        (joined, "moved"),
    ],
)
def test_other_options_are_told_what_is_wrong(wrong: Callable[[Sequence[Path]], object], told: str) -> None:
    said = saxpy_text.check_header_option(wrong)
    assert said.startswith("Not yet: ") and re.search(told, said.replace("\\n", "\n").replace("\n", ".n")), said


def test_a_cache_trial_notes_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(program: str, task: dict[str, Any], environment: dict[str, str]) -> dict[str, Any]:
        include, *_ = task["options"]
        answer = Path(include.removeprefix("-I"), "answer.h").read_text().split()[-1]
        Path(environment["CUPY_CACHE_DIR"], hashlib.sha256(str(task).encode()).hexdigest()).touch()
        return {"answer": int(answer), "stages": [0.3, 0.1, 0.05, 0.001]}

    monkeypatch.setattr(process, "answer", run)
    trial = saxpy_text.CacheTrial()
    trial.run("new")
    trial.header.write_text("#define ANSWER 2\n")
    trial.run("the header")
    trial.run("an option", options=("-DUNUSED=1",))
    rows = trial.table().rows
    assert [(row["answer"], row["files_in_the_cache"]) for row in rows] == [(1, 1), (2, 1), (2, 2)]
    assert rows[0]["import_seconds"] == 0.3 and rows[0]["launch_seconds"] == 0.001


@pytest.mark.parametrize("text", [None, "", "axpby"])
def test_a_text_without_the_kernel_is_told(text: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert not saxpy_text.check_axpby(text, lambda size: ())
    assert capsys.readouterr().out == "Not yet: the text has no kernel `axpby`.\n"
