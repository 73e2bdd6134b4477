"""Which interpreter wheels are built for, how pip is run for it, and what is said when it fails."""

import importlib.util
import re
import sys
from pathlib import Path

import layouts
import pytest
from layouts import Pip

from fourways import install
from fourways.install import InstallError, build_pycuda, find_python

PYTHON = sys.executable


def test_find_python_asks_uv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    monkeypatch.setattr(install, "_ABOUT", f"print({version!r}, True)")
    assert find_python(PYTHON) == Path(PYTHON)
    with pytest.raises(InstallError, match=r"no Python 9\.9 .*give its path"):
        find_python("9.9")
    monkeypatch.setattr(install, "_ABOUT", f"print({version!r}, False)")
    with pytest.raises(InstallError, match=rf"no Python\.h .*apt install python{version}-dev"):
        find_python(PYTHON)


@pytest.mark.parametrize("ours", ["none", "23.0.1"])
def test_uv_brings_a_pip_that_serves_another_python(
    ours: str, pip: Pip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is none, or Debian 12's, which fails under Python 3.12; uv trusts whom the system trusts."""
    find_spec = importlib.util.find_spec
    if ours == "none":
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else find_spec(name))
    else:
        pip.is_version(ours)
    arguments = f'test "$1 $2 $3 $4 $UV_SYSTEM_CERTS" = "tool run --python {PYTHON} 1"'
    uv = layouts.script(tmp_path / "uv", f'{arguments} || exit 1; shift 4; exec {PYTHON} -m "$@"')
    monkeypatch.setattr(install, "find_uv_bin", lambda: str(uv))
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
