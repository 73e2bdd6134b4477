"""What lesson 02 tries with a kernel's text, as far as it needs no GPU."""

import hashlib
import re
import subprocess
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from fourways import kernels
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
    def run(words: Sequence[str], env: dict[str, str], **_: object) -> SimpleNamespace:
        include = next(word for word in words if word.startswith("-I"))
        answer = Path(include[2:], "answer.h").read_text().split()[-1]
        Path(env["CUPY_CACHE_DIR"], hashlib.sha256("".join(words).encode()).hexdigest()).touch()
        return SimpleNamespace(returncode=0, stdout=f"[{answer}, 0.3, 0.1, 0.05, 0.001]", stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    trial = saxpy_text.CacheTrial()
    trial.run("new")
    trial.header.write_text("#define ANSWER 2\n")
    trial.run("the header")
    trial.run("an option", options=("-DUNUSED=1",))
    rows = trial.table().rows
    assert [(row["answer"], row["files_in_the_cache"]) for row in rows] == [(1, 1), (2, 1), (2, 2)]
    assert rows[0]["import_seconds"] == 0.3 and rows[0]["launch_seconds"] == 0.001


def test_a_cache_trial_tells_why_a_process_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = SimpleNamespace(returncode=1, stdout="", stderr="no GPU here\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(RuntimeError, match="new: a fresh process failed:\nno GPU here"):
        saxpy_text.CacheTrial().run("new")
