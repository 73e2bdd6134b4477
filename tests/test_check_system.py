"""What the system lacks is said before anything is downloaded, by the name of Debian's package."""

import subprocess
import sys
from pathlib import Path

import pytest

PRELUDE = "import runpy, shutil, sys, sysconfig, importlib.util; {}; runpy.run_path({!r})"


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        ("sysconfig.get_path = lambda name: '/nowhere'", "apt install python3-dev"),
        ("shutil.which = lambda name: None", "apt install g++"),
        ("importlib.util.find_spec = lambda name: None", "apt install python3-venv"),
        ("import os; os.environ['CXX'] = '/nowhere/g++ -O1'", "CXX names /nowhere/g++ as the C++ compiler, and there"),
        ("import os; os.environ['CXX'] = sys.executable; shutil.which = lambda name: name == sys.executable", ""),
        ("sys.version_info = (3, 10, 1)", "needs Python 3.11 to 3.13, and python3 is 3.10"),
        ("pass", ""),
    ],
)
def test_what_is_missing_is_named(root: Path, lacking: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    program = PRELUDE.format(lacking, str(root / "scripts" / "check_system.py"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert words in done.stderr and (done.returncode == 1) == bool(words), done.stderr


def test_readme_and_ci_name_these_packages(root: Path) -> None:
    for file in ("README.md", ".ci/run"):
        [line] = [each for each in (root / file).read_text().splitlines() if "apt" in each and "install" in each]
        assert {"git", "make", "g++", "python3-venv", "python3-dev"} <= set(line.split())
