"""Programs in fresh processes: where their stages begin, what comes back, and how they end."""

import os
import signal
from pathlib import Path

import pytest

from fourways import fresh_process
from fourways.fresh_process import ProgramError

SLEEPER = """'''A program whose stages sleep.'''
# import
import os
import sys
import time

# load
time.sleep(0.05)

# this comment marks nothing: it has more than a word
# work
text = '''
# string
'''
time.sleep(0.01)

# load
time.sleep(0.05)
assert sys.argv[1:] == ["one", "2"]
"""


def test_a_traceback_has_the_program_s_own_lines() -> None:
    ended = fresh_process.start("# import\nimport os\n# work\n\n1 / 0\n")
    assert ", line 5, in <module>" in ended.words and "1 / 0" in ended.words


def test_stages_begin_at_comments_of_one_word() -> None:
    names = [name for name, _ in fresh_process.parts(SLEEPER)]
    assert names == ["", "import", "load", "work", "load"]


def test_rows_and_their_table() -> None:
    table = fresh_process.run({"sleeper": (SLEEPER, "one", 2), "short": "# work\npass\n"}, runs=3)
    row, _ = table.rows
    assert list(row["stages"]) == ["start", "import", "load", "work", "end"]
    assert row["stages"]["load"]["p10"] >= 0.1 and row["stages"]["work"]["p10"] >= 0.01, "they sleep so long"
    assert row["stages"]["start"]["p10"] > 0 and row["seconds"]["samples"] == 3
    assert row["seconds"]["p10"] >= row["stages"]["load"]["p10"] + row["stages"]["work"]["p10"]
    assert [heading for heading, _ in table.columns] == ["program", *row["stages"], "total", "p10 to p90"]
    assert table.cells()[1][2:4] == ["", ""], "this program has no such stages"
    assert table.note == "Host clock; 3 fresh processes each, from start to end."


def test_each_process_is_fresh_and_the_first_does_not_count(tmp_path: Path) -> None:
    says = f"# work\nimport pathlib, os\n(pathlib.Path({str(tmp_path)!r}) / str(os.getpid())).touch()\n"
    taken = fresh_process.samples({"a": says, "b": says}, 2)
    assert [len(each) for each in taken.values()] == [2, 2] and len(list(tmp_path.iterdir())) == 6


def test_a_file_runs_as_python_runs_it(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("value = 3")
    program = tmp_path / "program.py"
    program.write_text(
        "import json, sys, beside\nprint({'no': 'JSON'})\n"
        "if __name__ == '__main__':\n"
        "    told = {'beside': beside.value, 'file': __file__, 'argv': sys.argv}\n"
        "    told['word'] = __import__('os').environ.get('WORD')\n"
        "    print(json.dumps(told))\n    print('bye')\n"
    )
    told = fresh_process.answer(program, 1, environment=os.environ | {"WORD": "here"})
    argv = [str(program), "1"]
    assert told == {"beside": 3, "file": str(program), "argv": argv, "word": "here"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# work\nimport nobody_has_this\n", "mine: ModuleNotFoundError: No module named 'nobody_has_this'"),
        ("# work\nimport sys; print('x: y', file=sys.stderr); sys.exit('no luck')", "mine: no luck"),
        ("# work\nimport os; os.abort()", "mine: SIGABRT"),
        ("# work\nassert 1 > 2\n", "mine: AssertionError"),
        ("# work\nimport sys; sys.exit(3)", "mine: exit status 3"),
        ("# work\nx = = 1\n", "mine: line 2: SyntaxError: invalid syntax"),
        ("import os\n", "mine: no comment such as `# import` says where a stage begins"),
        ("# work\nimport time; time.sleep(60)", "mine: not done after 0.5 s"),
    ],
)
def test_a_program_that_fails_is_one_line(text: str, why: str) -> None:
    with pytest.raises(ProgramError, match=f"^{why}$"):
        fresh_process.samples({"mine": text}, 1, timeout=0.5 if "sleep" in text else 60)


def test_what_was_answered_before_a_crash_is_kept() -> None:
    text = "# work\nprint('{\"y\": 1}', flush=True)\n# crash\nimport os; os.kill(os.getpid(), 11)\n"
    ended = fresh_process.start(text)
    assert (ended.answer, ended.status, ended.why) == ({"y": 1}, -signal.SIGSEGV, "SIGSEGV")
    assert list(ended.stages) == ["start", "work", "crash"]


@pytest.mark.parametrize("text, why", [("print(3)", "it printed no answer"), ("1 / 0", "ZeroDivisionError: division")])
def test_no_answer(text: str, why: str) -> None:
    with pytest.raises(ProgramError, match=f"^a fresh process failed: {why}"):
        fresh_process.answer(text)
