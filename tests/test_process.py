"""A task in a fresh process: what comes back from one that answers, one that dies, and one that never ends."""

import os
import subprocess
from pathlib import Path

import pytest

from fourways import process


def run(folder: Path, body: str, timeout: float | None = 60) -> process.Ended:
    program = folder / "program.py"
    program.write_text(f"import json, os, sys, time\ntask = json.load(sys.stdin)\n{body}\n")
    return process.run(program, {"x": [1, 2]}, os.environ, folder, timeout)


def test_the_last_object_is_the_answer(tmp_path: Path) -> None:
    ended = run(tmp_path, "print('{\"y\": 1}'); print(json.dumps({'y': task['x'], 'at': os.getcwd()})); print('bye')")
    assert ended == ({"y": [1, 2], "at": str(tmp_path)}, 0, "")


def test_it_knows_when_it_was_spawned(tmp_path: Path) -> None:
    ended = run(tmp_path, "print(json.dumps({'ago': time.time() - task['spawned']}))")
    assert 0 < ended.answer["ago"] < 60


def test_what_was_answered_before_a_crash_is_kept(tmp_path: Path) -> None:
    ended = run(tmp_path, "print('{\"y\": 1}', flush=True); print('oh', file=sys.stderr, flush=True); os.abort()")
    assert (ended.answer, ended.status) == ({"y": 1}, -6) and ended.words.startswith("oh")


def test_without_an_answer(tmp_path: Path) -> None:
    ended = run(tmp_path, "print(3); sys.exit('no luck')")
    assert ended == (None, 1, "no luck")


def test_one_that_never_ends(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run(tmp_path, "time.sleep(600)", timeout=0.5)


def test_the_answer_of_a_text_and_the_words_of_one_that_fails() -> None:
    text = "import json, sys; print(json.dumps({'y': json.load(sys.stdin)['x'] + 1}))"
    assert process.answer(text, {"x": 1}, os.environ) == {"y": 2}
    with pytest.raises(RuntimeError, match="a fresh process failed:\nno luck"):
        process.answer("import sys; sys.exit('no luck')", {}, os.environ)
    with pytest.raises(RuntimeError, match="a fresh process failed"):
        process.answer("print(3)", {}, os.environ)
