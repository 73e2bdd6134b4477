"""`make setup`: an interrupted installation leaves nothing that the next one takes for whole."""

import importlib.metadata
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from fourways.install import read_lock

PACKAGES = ("jedi", "parso", "uv")  # many files, few, and what installs them


@pytest.mark.long
@pytest.mark.parametrize("moment", ["bin/pip", "bin/uv", "lib/*/site-packages/jedi/third_party/*/*"])
def test_an_interrupted_setup_begins_anew(root: Path, tmp_path: Path, moment: str) -> None:
    shutil.copytree(root / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("fourways"))
    shutil.copy(root / "Makefile", tmp_path)
    (tmp_path / "cpp").mkdir()
    lock = read_lock((root / "requirements.lock").read_text(encoding="utf-8"))
    (tmp_path / "requirements.lock").write_text("".join(entry for name in PACKAGES for entry in lock[name]))
    make, venv = ["make", ".venv/.packages"], tmp_path / ".venv"
    first = subprocess.Popen(make, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not any(venv.glob(moment)):
        if first.poll() is not None and "Without a network" in (said := first.communicate()[1]):
            pytest.skip(f"no package index can be reached: {said}")
        assert first.poll() is None, "over before its moment"
        time.sleep(0.001)
    os.killpg(first.pid, signal.SIGINT)
    first.communicate()
    assert first.returncode and not (venv / ".packages").exists()
    subprocess.run(make, cwd=tmp_path, check=True)
    (site,) = venv.glob("lib/*/site-packages")
    packages = {package.name: package for package in importlib.metadata.distributions(path=[str(site)])}
    assert packages.keys() > {*PACKAGES}
    lacking = [str(file) for package in packages.values() for file in package.files or () if not file.locate().exists()]
    assert lacking == []
