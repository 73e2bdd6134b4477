"""The command as a user meets it: help that teaches, clear errors, exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fourways import cli, kernels, lesson, timing, toolchain

NO_GPU = pytest.mark.skipif(toolchain.missing("gpu") is None, reason="this machine has a GPU")


def fourways(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fourways", *arguments],
        capture_output=True,
        text=True,
        env=lesson.process_environment(),
        cwd=kernels.root(),
    )


HELP = {
    "list": "List the lessons",
    "doctor": "--json",
    "run": "fourways run 1",
    "check": "fourways check 1 --way host",
    "time": "fourways time 1 --sizes 2^10:2^28 --figure sizes.svg",
    "book": "build/book",
    "sass": "fourways sass 1 -w nvrtc -w pycuda",
    "link": "fourways link library.cu mine.cu --entry my_kernel",
    "build": "fourways build my.cu --arch all --json builds.json",
    "profile": "fourways profile 1 --timeline --figure timeline.svg --trace trace.json",
    "export": "fourways export 1 --student class --solutions mine",
    "install-pycuda": "--if-driver",
    "wheelhouse": "make lessons PYTHON=python3 WHEELHOUSE=folder",
}


@pytest.mark.parametrize("command", HELP)
def test_help_teaches_by_example(command: str) -> None:
    done = fourways(command, "--help")
    assert done.returncode == 0
    assert HELP[command] in " ".join(done.stdout.split())


def test_help_names_every_command() -> None:
    done = fourways("--help")
    assert done.returncode == 0
    assert all(f" {command} " in done.stdout for command in HELP)


def test_list() -> None:
    done = fourways("list")
    assert done.returncode == 0
    assert all(found.number in done.stdout and found.meta["kernel"] in done.stdout for found in lesson.all_lessons())


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (("check", "99"), 2, "no lesson '99'; there are: 00_two_workflows, 01_doublify"),
        (("check", "1", "--way", "opencl"), 2, "choose from"),
        (("time", "1", "--sizes", "0"), 2, "--sizes"),
        (("time", "1", "--figure", "sizes.pdf"), 2, "a figure is a .svg or a .png file"),
        (("time", "1", "--entry", "k"), 2, "for a file of your own"),
        (("time", "1", "--first", "--sizes", "9"), 2, "timed at one size"),
        (("time", "1", "--json", "cpp"), 2, "cpp is a folder"),
        (("build", "1", "--figure", "README.md/a.svg"), 2, "nothing can be written in"),
        (("profile", "1", "--trace", "t.json"), 2, "--timeline"),
        (("profile", "1", "--size", "1,2"), 2, "one size at a time"),
        (("profile", "my.cu", "--timeline"), 2, "name one by its number"),
        (("export",), 2, "name a folder"),
        (("export", "--student", "README.md"), 2, "is a file"),
        (("export", "--student", "class", "--solutions", "./class"), 2, "two folders"),
        (("run", "--timeout", "soon"), 2, "--timeout"),
        (("nothing",), 2, "No such command"),
        pytest.param(("check", "1", "-w", "nvrtc"), 1, "nvrtc: no NVIDIA driver", marks=NO_GPU),
    ],
)
def test_mistakes_get_one_clear_message(arguments: tuple[str, ...], code: int, words: str) -> None:
    done = fourways(*arguments)
    assert done.returncode == code
    assert words in " ".join(done.stderr.replace("│", "").split())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["time", "build", "sass", "profile"])
def test_a_source_that_is_no_text_is_said(tmp_path: Path, command: str) -> None:
    (tmp_path / "latin.cu").write_bytes(b"// Gr\xfc\xdfe\n")
    done = fourways(command, str(tmp_path / "latin.cu"))
    assert done.returncode == 2 and "latin.cu is no UTF-8 text" in " ".join(done.stderr.split())


def test_check_and_time_on_the_cpu() -> None:
    done = fourways("check", "1", "-w", "host")
    assert done.returncode == 0 and "right" in done.stdout
    done = fourways("time", "1", "-w", "host", "--size", "1000")
    assert done.returncode == 0 and "1,000" in done.stdout and "MB/s" in done.stdout.replace("GB/s", "MB/s")


def test_outside_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    environment = lesson.os.environ | {"PYTHONPATH": str(Path(lesson.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-m", "fourways", "list"], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert done.returncode == 1
    assert "no clone of Four Ways found" in done.stderr and "Traceback" not in done.stderr


def test_nothing_timed_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    too_large = [{"way": "none", "size": 2**40, "skipped": "not timed from here on: no room"}]
    monkeypatch.setattr(timing, "time_sizes", lambda *_: too_large)
    done = CliRunner().invoke(cli.app, ["time", "1", "--sizes", "2^40", "--figure", str(tmp_path / "a.svg")])
    assert "nothing was timed: not timed from here on: no room" in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_time_first_on_the_cpu() -> None:
    done = fourways("time", "1", "--first", "-w", "host")
    assert done.returncode == 0 and "the median of 3 cold and of 3 warm fresh processes" in " ".join(
        done.stdout.split()
    )


def test_build_writes_json_and_fails_whole(tmp_path: Path) -> None:
    file, figure = tmp_path / "builds.json", tmp_path / "builds.svg"
    both = ("--json", str(file), "--figure", str(figure))
    done = fourways("build", "1", "-c", "nvrtc", "-c", "nvcc", "--arch", "75", "--arch", "sm_90", *both)
    assert done.returncode == 0 and "runs" in done.stdout
    content = json.loads(file.read_text())
    assert [row["arch"] for row in content["tables"]["build"]] == ["sm_75", "sm_90"] * 2 + ["2 + PTX"]
    assert content["stamp"]["nvcc"]
    assert "Building doublify.cuh" in figure.read_text()
    file.unlink()
    figure.unlink()
    broken = tmp_path / "broken.cu"
    broken.write_text('extern "C" __global__ void f(float *x) { x[0] = y; }')
    for arguments, words in (
        (("1", "--arch", "999"), "Advice: take one that the compiler knows"),
        (("1", "--entry", "other", "-c", "nvrtc"), "no entry point 'other'; there are: doublify"),
        (("1", "-c", "gcc"), "choose from nvrtc"),
        (("1", "-c", "pycuda", "--figure", "builds.pdf"), "a .svg or a .png"),
        ((str(broken),), 'identifier "y" is undefined'),
        (("no.cu",), "no file no.cu"),
    ):
        done = fourways("build", *both, *arguments)
        assert done.returncode in (1, 2) and words in " ".join(done.stderr.split()), done.stderr
        assert "Traceback" not in done.stderr
        assert not file.exists() and not figure.exists()
