"""Which interpreter wheels are built for, how pip is run for it, and what is said when it fails."""

import re
import sys
from pathlib import Path

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
