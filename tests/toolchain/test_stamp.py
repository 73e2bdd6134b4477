"""The stamp says what a figure depends on, and nothing about whose machine it was."""

import datetime
import json
import platform
import socket
import subprocess
from pathlib import Path

import layouts
import numpy
import pytest

from fourways import kernels, toolchain


def test_stamp_is_json_and_complete() -> None:
    before = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    stamp = json.loads(json.dumps(toolchain.stamp()))
    date = datetime.datetime.fromisoformat(stamp["date"])
    assert date.utcoffset() == datetime.timedelta(0) and before <= date <= datetime.datetime.now(datetime.UTC)
    assert stamp["python"] == platform.python_version()
    assert stamp["packages"]["numpy"] == numpy.__version__
    assert {"cuda-core", "pybind11"} <= set(stamp["packages"])
    assert stamp["nvcc"].startswith("13.") and stamp["nvrtc"].startswith("13.")
    assert stamp["host_compiler"].split()[1][0].isdigit()
    assert platform.machine() in stamp["os"]
    assert stamp["cpu"]


def test_stamp_names_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourways.toolchain.versions.gpus", lambda: [toolchain.Gpu("A GPU", "9.0", "sm_90", 80 << 30)])
    names = ("device", "compute_capability", "memory_bytes", "devices")
    assert [toolchain.stamp()[name] for name in names] == ["A GPU", "9.0", 80 << 30, 1]


def test_stamp_names_no_path_user_or_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Even where a compiler is named by its path in the folder of somebody."""
    mine = layouts.script(tmp_path / "home" / "somebody" / "bin" / "g++", "echo g++ 12.2.0")
    monkeypatch.setenv("CXX", str(mine))
    for name in ("LOGNAME", "USER", "HOSTNAME"):
        monkeypatch.setenv(name, "somebody")
    monkeypatch.setattr(platform, "node", lambda: "somebodys-machine")
    monkeypatch.setattr(socket, "gethostname", lambda: "somebodys-machine")
    text = json.dumps(toolchain.stamp())
    assert toolchain.host_compiler() == mine
    for secret in ("somebody", str(tmp_path), str(Path.home()), str(kernels.root()), "/home", "/usr", "site-packages"):
        assert secret not in text


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one commit."""
    monkeypatch.setenv("FOURWAYS_COMMIT", "0" * 40)  # a checkout knows better
    (tmp_path / "cpp" / "kernels").mkdir(parents=True)
    (tmp_path / "cpp" / "kernels" / "k.cuh").write_text("// a kernel\n")
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    author = "-c user.name=A -c user.email=a@example.com -c commit.gpgsign=false"
    for words in ("init -q", "add .", f"{author} commit -qm one"):
        subprocess.run(["git", "-C", str(tmp_path), *words.split()], check=True)
    return tmp_path


def commit_and_clean() -> tuple[object, object]:
    stamp = toolchain.stamp()
    return stamp["commit"], stamp["clean"]


def test_commit_and_cleanness(clone: Path) -> None:
    head = subprocess.run(["git", "-C", str(clone), "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    subprocess.run(["git", "-C", str(clone), "tag", "v1"], check=True)  # hides nothing
    (clone / "untracked").touch()
    assert commit_and_clean() == (head, True)
    (clone / "cpp" / "kernels" / "k.cuh").write_text("// changed\n")
    assert commit_and_clean() == (head, False)
