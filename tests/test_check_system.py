"""What the system lacks is said before anything is downloaded, by the name of Debian's package."""

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import layouts
import pytest

from fourways import toolchain

PRELUDE = "import runpy, shutil, sys, sysconfig, importlib.util; {}; runpy.run_path({!r})"


def check(root: Path, lacking: str = "pass", script: str = "check_system.py", folder: Path | None = None) -> str:
    """The check's message for this system, or for one that lacks something; "" where all is well."""
    program = PRELUDE.format(lacking, str(root / "scripts" / script))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder)
    assert (done.returncode == 1) == bool(done.stderr) and "Traceback" not in done.stderr, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        ("sysconfig.get_path = lambda name: '/nowhere'", "apt install python3-dev"),
        ("shutil.which = lambda name: None", "apt install g++"),
        ("importlib.util.find_spec = lambda name: None", "apt install python3-venv"),
    ],
)
def test_what_is_missing_is_named(root: Path, lacking: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    assert words in check(root, lacking)


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 8), (3, 10, 1), (3, 15, 0)])
def test_another_python_is_named_first(root: Path, version: tuple[int, int, int]) -> None:
    """By a file that an old Python can read: an f-string, an annotation or `:=` would end it with a SyntaxError."""
    said = check(root, f"sys.version_info = {version}", "check_python.py")
    assert f"needs Python 3.11 to 3.14, and python3 is {version[0]}.{version[1]}:" in said
    tree = ast.parse((root / "scripts" / "check_python.py").read_text(encoding="utf-8"))
    assert {type(node).__name__ for node in ast.walk(tree)}.isdisjoint({"JoinedStr", "NamedExpr", "AnnAssign", "arg"})
    assert check(root, script="check_python.py") == ""


@pytest.mark.parametrize("name", ["it's", "do$lar", 'say "hi"', "co:lon", "two\nlines"])
def test_a_folder_whose_name_a_tool_would_misread(root: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    said = check(root, folder=tmp_path / name)
    assert said.startswith("the path of this clone, ") and said.count("\n") == 1 and "rename the folder" in said
    (tmp_path / "with blank, ü, %, #, (, =").mkdir()
    assert check(root, folder=tmp_path / "with blank, ü, %, #, (, =") == ""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is first on PATH, with compilers that nvcc accepts and a launcher."""
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name in ("c++", "g++", "gcc"):
        predefines(tmp_path / name, "__GNUC__", 15)
    layouts.script(tmp_path / "launcher", 'exec "$@"')
    return tmp_path


def predefines(compiler: Path, macro: str, number: int) -> None:
    layouts.script(compiler, f"echo '#define {macro} {number}'")


@pytest.mark.parametrize("name", ["c++", "gcc", "CXX with a launcher"])
def test_a_compiler_that_nvcc_refuses_is_named(
    root: Path, compiler: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of CMake, nvcc and the host way would take it; nvcc's own headers say what it accepts."""
    program = compiler / name.partition(" ")[0]
    if name.startswith("CXX"):
        launcher = [str(compiler / "launcher")] if "launcher" in name else []
        monkeypatch.setenv("CXX", shlex.join([*launcher, str(program), "-m64"]))
    header = (toolchain.cuda_headers() or pytest.skip("no nvcc here")) / "crt" / "host_config.h"
    for macro in ("__GNUC__", "__clang_major__"):
        limit = re.search(rf"{macro} (>=?) (\d+)", header.read_text(errors="replace")) or pytest.skip("no nvcc here")
        newest = int(limit[2]) - (limit[1] == ">=")
        predefines(program, macro, newest)
        assert check(root) == ""
        for version, words in ((newest + 1, f"up to {newest}:"), (8, "or newer:")):
            predefines(program, macro, version)
            said = check(root)
            assert f" {version}," in said and words in said and "CXX=g++-15" in said
            assert said.startswith(os.environ.get("CXX", name))
