"""Which interpreter wheels are built for, how pip is run for it, and what is said when it fails."""

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path

import layouts
import pytest
from layouts import Pip

from fourways.install import InstallError, build_pycuda, find_python

Interpreter = Callable[..., Path]
PYTHON = sys.executable


@pytest.fixture
def interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Interpreter:
    """Makes interpreters of Python 9.9, which nobody has; this one is in `tmp_path / "venv"`, with no uv beside it."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setattr(sys, "executable", str(layouts.script(tmp_path / "venv" / "python", "echo 8.8 True")))

    def make(place: str, answer: str = "echo 9.9 True") -> Path:
        return layouts.script(tmp_path / place, answer)

    return make


def test_find_python_passes_dead_shims(interpreter: Interpreter) -> None:
    interpreter("bin/python9.9", "echo 'pyenv: python9.9: command not found' >&2; exit 127")
    found = interpreter("pyenv/versions/9.9.1/bin/python3")
    assert find_python("9.9") == find_python("9.9.3") == found


def test_find_python_takes_this_one_or_a_path(interpreter: Interpreter) -> None:
    assert find_python("8.8") == Path(sys.executable)
    found = interpreter("somewhere/python", "echo 7.7 True")
    assert find_python(str(found)) == found


def test_find_python_asks_uv(interpreter: Interpreter) -> None:
    found = interpreter("uv-pythons/python9.9")
    interpreter("venv/uv", f'test "$1 $2" = "python find" && echo "{found}"')
    assert find_python("9.9") == found


def test_find_python_says_why_not(interpreter: Interpreter) -> None:
    with pytest.raises(InstallError, match=r"no Python 9\.9 .*PATH.*pyenv"):
        find_python("9.9")
    with pytest.raises(InstallError, match="no Python interpreter"):
        find_python("/bin/ls")
    interpreter("bin/python9.9", "echo 9.9 False")
    with pytest.raises(InstallError, match=r"no Python\.h .*apt install python9\.9-dev"):
        find_python("9.9")


@pytest.mark.parametrize("ours", ["none", "23.0.1"])
def test_uv_brings_a_pip_that_serves_another_python(
    ours: str, pip: Pip, interpreter: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is none, or Debian 12's, which fails under Python 3.12; uv trusts whom the system trusts."""
    find_spec = importlib.util.find_spec
    if ours == "none":
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else find_spec(name))
    else:
        pip.is_version(ours)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    with pytest.raises(InstallError, match="neither pip .* nor uv is here: .*ensurepip"):
        build_pycuda("/a/python", tmp_path)
    arguments = f'test "$1 $2 $3 $4 $UV_SYSTEM_CERTS" = "tool run --python {sys.executable} 1"'
    interpreter("venv/uv", f'{arguments} || exit 1; shift 4; exec {PYTHON} -m "$@"')
    assert build_pycuda("/a/python", tmp_path).suffix == ".whl"
    assert pip.calls()[0]["words"][:3] == ["--python", "/a/python", "wheel"]


def test_an_old_pip_serves_its_own_python(pip: Pip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip.is_version("23.0.1")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert build_pycuda(sys.executable, tmp_path).suffix == ".whl"


def test_a_failure_shows_what_matters(pip: Pip, tmp_path: Path) -> None:
    pip.then(
        "print('chatter'); print('x.cpp:1: error: no curand.h', file=sys.stderr)\n"
        "print(*range(100), sep='\\n')\n"
        "sys.exit(3)\n"
    )
    with pytest.raises(InstallError, match=r"building PyCUDA \S+ failed \(exit code 3") as failure:
        build_pycuda(sys.executable, tmp_path)
    message = str(failure.value)
    assert message.endswith("\nx.cpp:1: error: no curand.h")
    whole = Path(re.search(r"all of it: (\S+)\)", message)[1])  # type: ignore[index]
    assert "chatter\n" in whole.read_text() and "\n99\n" in whole.read_text()
    whole.unlink()


def test_success_is_quiet_where_nobody_looks(pip: Pip, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pip.then("print('chatter')")
    build_pycuda(sys.executable, tmp_path)
    assert capfd.readouterr() == ("", "")
