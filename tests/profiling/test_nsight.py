"""What `fourways profile` asks of Nsight Compute, and what it says when that fails. No GPU: a script plays ncu."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from fourways import _profile_process, cli_profile, counters, kernels, lesson, profiling, toolchain

STORED = Path(__file__).with_name("data") / "doublify.ncu-rep"
FORBIDDEN = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"


class Ncu:
    """A program that plays ncu or nsys: it notes its arguments, and does what `body` (Python) says."""

    def __init__(self, path: Path, body: str) -> None:
        self.path, self.noted = path, path.with_suffix(".json")
        head = f"#!{sys.executable}\nimport json, pathlib, shutil, subprocess, sys\nwords = sys.argv[1:]\n"
        path.write_text(f"{head}pathlib.Path({str(self.noted)!r}).write_text(json.dumps(words))\n{body}\n")
        path.chmod(0o755)

    @property
    def words(self) -> list[str]:
        return json.loads(self.noted.read_text())

    def after(self, option: str) -> str:
        return self.words[self.words.index(option) + 1]


@pytest.fixture
def ncu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make a fake ncu that this machine, which passes for one with a GPU, finds."""

    def make(body: str) -> Ncu:
        made = Ncu(tmp_path / "ncu", body)
        monkeypatch.setattr(profiling, "find", lambda name: made.path)
        return made

    monkeypatch.setattr(toolchain, "missing", lambda way: None)
    return make


LEAVES_REPORT = f"shutil.copy({str(STORED)!r}, words[words.index('--export') + 1] + '.ncu-rep')"


def test_the_right_flags_and_the_report_kept(ncu: Any, tmp_path: Path) -> None:
    fake, kept = ncu(LEAVES_REPORT), tmp_path / "kept.ncu-rep"
    report = profiling.profile("1", "nvcc", 1000, entry="doublify", clocks="none", keep=kept)
    assert report == counters.read(STORED)
    assert kept.read_bytes() == STORED.read_bytes()
    assert fake.after("--profile-from-start") == "off"
    assert fake.after("--clock-control") == "none"
    assert fake.after("--kernel-name") == "doublify"
    assert fake.after("--import-source") == "1"
    assert str(kernels.root() / "cpp") in fake.after("--source-folders").split(",")
    assert fake.after("--metrics").split(",") == list(counters.METRICS)
    assert fake.words.count("--section") == len(counters.SECTIONS)
    assert fake.words[fake.words.index("-m") + 1 :][:4] == ["fourways._profile_process", "1", "nvcc", "--size=1000"]


def test_full_collects_everything(ncu: Any) -> None:
    fake = ncu(LEAVES_REPORT)
    profiling.profile("1", full=True)
    assert fake.after("--set") == "full"
    assert "--metrics" not in fake.words
    assert fake.after("--clock-control") == "base"
    assert "--kernel-name" not in fake.words


def test_missing_rights_are_one_line_with_the_remedy(ncu: Any, tmp_path: Path) -> None:
    ncu(f"print({FORBIDDEN!r}); sys.exit(1)")
    kept = tmp_path / "kept.ncu-rep"
    with pytest.raises(
        profiling.NoCountersError, match="ERR_NVGPUCTRPERM.*NVreg_RestrictProfilingToAdminUsers"
    ) as told:
        profiling.profile("1", keep=kept)
    assert "\n" not in str(told.value)
    assert not kept.exists()


def test_the_refusal_of_a_program_of_ones_own() -> None:
    """As lesson 07 asks, which runs ncu itself."""
    assert isinstance(profiling.refused(FORBIDDEN), profiling.NoCountersError)
    told = profiling.refused("==PROF== Connected\n==ERROR== no such option")
    assert "==ERROR== no such option" in str(told) and "Connected" not in str(told)


def test_nsight_computes_own_words(ncu: Any) -> None:
    ncu("print('==PROF== Connected'); print('==WARNING== No kernels were profiled.')")
    with pytest.raises(profiling.ProfilingError, match="No kernels were profiled") as told:
        profiling.profile("1", entry="nothing")
    assert not isinstance(told.value, profiling.NoCountersError)
    assert "Connected" not in str(told.value)


def test_a_report_to_give_away_names_no_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stored report, as if it had just been made here."""
    report = STORED.read_bytes()
    folders = (b"/opt/torch/.venv", b"/four-ways/cpp")
    machine = (b"*\x02vm0", b"192.0.2.2", *folders)
    assert all(part in report for part in machine), "what this test looks for"
    monkeypatch.setattr(profiling.socket, "gethostname", lambda: "vm")
    monkeypatch.setattr(kernels, "root", lambda: Path("/four-ways/cpp"))
    monkeypatch.setattr(sys, "prefix", "/opt/torch/.venv")
    given = tmp_path / "given.ncu-rep"
    given.write_bytes(profiling.anonymous(report))
    assert not [part for part in machine if part in given.read_bytes()]
    assert b"fe80::" in report and b"fe80::" not in given.read_bytes()
    assert b"/venv___________/bin/python3 -m fourways" in given.read_bytes()
    assert counters.read(given) == counters.read(STORED), "it says what it said"


def test_names_of_any_length_are_replaced_and_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "root", lambda: Path("/a/b"))
    monkeypatch.setattr(Path, "home", lambda: Path("/home/somebody"))
    monkeypatch.setattr(sys, "prefix", "/a/b/.venv")
    monkeypatch.setattr(profiling.socket, "gethostname", lambda: "a-long-name")
    host = b"x86_64*\x0ba-long-name0\x02:\x0d\n\x09192.0.2.2\x10\x02"
    said = b"127.0.0.1 /a/b/cpp /a/b/.venv/bin/python /a/beta /home/somebody/x /usr/bin/python3 a-long-name 2025.3.1.0"
    cleaned = profiling.anonymous(host + said)
    assert cleaned[: len(host)] == b"x86_64*\x0bhost_______0\x02:\x0d\n\x09address__\x10\x02"
    there = b"127.0.0.1 /fou/cpp /fou/.venv/bin/python /a/beta /home_________/x /usr/bin/python3 a-long-name 2025.3.1.0"
    assert cleaned[len(host) :] == there


RUNS_PROGRAM = "sys.exit(subprocess.run(words[words.index(sys.executable):]).returncode)"


def test_a_way_that_fails_says_why(ncu: Any, tmp_path: Path) -> None:
    ncu(f"{LEAVES_REPORT}\n{RUNS_PROGRAM}")  # a report of something else must not count
    mine = tmp_path / "mine.cu"
    mine.write_text('extern "C" __global__ void mine(float *x) {}\n')
    with pytest.raises(profiling.ProfilingError, match="no kernel 'nothing' in mine.cu; there are: mine") as told:
        profiling.profile(str(mine), entry="nothing")
    assert "Traceback" not in str(told.value)
    with pytest.raises(profiling.ProfilingError, match=r"wanted the signature"):
        profiling.profile(str(mine), entry="mine")


def test_without_nsight_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda way: None)
    monkeypatch.setattr(profiling, "find", lambda name: None)
    with pytest.raises(profiling.NoCountersError, match=r"\(ncu\) is not on this machine: .*nsight-compute"):
        profiling.profile("1")


def test_without_the_package_that_reads(ncu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = ncu(LEAVES_REPORT)
    monkeypatch.setitem(sys.modules, "ncu_report", None)
    with pytest.raises(profiling.NoCountersError, match="pip install ncu-report"):
        profiling.profile("1")
    assert not fake.noted.exists()  # said before a long run, not after


def test_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda way: toolchain.NO_DRIVER)
    with pytest.raises(profiling.ProfilingError, match="no NVIDIA driver") as told:
        profiling.profile("1")
    assert not isinstance(told.value, profiling.NoCountersError)  # nothing can be timed by events either


@pytest.mark.parametrize("target", ["99", "nothing.cu"])
def test_an_unknown_target(target: str) -> None:
    with pytest.raises(lesson.LessonError):
        profiling.profile(target)


def test_programs_are_found_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Ncu(tmp_path / "nsys", "")
    monkeypatch.setattr(toolchain, "in_roots", lambda *patterns: [])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert profiling.find("nsys") == fake.path


def command(*arguments: Any) -> Any:
    app = typer.Typer()
    app.command()(cli_profile.profile)
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, list(map(str, arguments)))


def test_events_are_the_fall_back(ncu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ncu(f"print({FORBIDDEN!r}); sys.exit(1)")
    seconds = {"median": 2e-4, "p10": 1.9e-4, "p90": 2.1e-4, "samples": 50}
    row = {"way": "nvrtc", "size": 1000, "clock": "device", "seconds": seconds, "bytes_per_second": 1e12}
    asked = []
    monkeypatch.setattr(profiling, "by_events", lambda *arguments: asked.append(arguments) or row)
    result = command("1", "--size", "1000")
    assert asked == [("1", "nvrtc", 1000, None)]
    assert "200 µs" in result.output
    assert isinstance(result.exception, profiling.NoCountersError)


def test_no_fall_back_where_the_way_fails(ncu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ncu("print('==ERROR== Something else')")
    monkeypatch.setattr(profiling, "by_events", lambda *arguments: pytest.fail("timed"))
    assert isinstance(command("1").exception, profiling.ProfilingError)


def test_nsys_is_printed_and_run(ncu: Any, tmp_path: Path) -> None:
    fake, output = ncu("output = [w for w in words if w.startswith('--output=')][0]"), tmp_path / "mine.nsys-rep"
    result = command("1", "--nsys", "--way", "pycuda", "--report", output)
    assert result.exit_code == 0, result.output
    assert result.output.split()[1:] == fake.words
    assert fake.words[:3] == ["profile", "--trace=cuda,nvtx,osrt", "--force-overwrite=true"]
    assert f"--output={output}" in fake.words
    assert fake.words[-4:] == ["fourways._profile_process", "1", "pycuda", "--size=67108864"]


def test_nsys_missing_is_said_after_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiling, "find", lambda name: None)
    result = command("1", "--nsys")
    assert result.output.startswith("nsys profile --trace=cuda,nvtx,osrt ")
    assert "nsys) is not on this machine" in str(result.exception)


KEPT = """
import sys
from pathlib import Path
from cupy.cuda import compiler
from fourways import _profile_process, toolchain
toolchain.activate()
compiler._get_arch_for_options_for_nvrtc = lambda arch: ('-arch=sm_90', 'cubin')  # it asks the GPU
_profile_process.keep_sources(Path(sys.argv[1]))
source = 'extern "C" __global__ void mine(float *x) {{ x[threadIdx.x] += 1.f; }}'
code = compiler.{call}
code = code[0] + b"\\0" if isinstance(code, tuple) else code  # of NVRTC's, CuPy cuts off the last byte
Path(sys.argv[1], "code.cubin").write_bytes(code)
"""
CALLS = {
    "nvrtc": "compile_using_nvrtc(source, ('-lineinfo',), arch='90', filename='mine.cubin.cu')",
    "nvcc": "compile_using_nvcc(source, arch='90', filename='mine.cubin.cu')",
}


@pytest.mark.parametrize("way", CALLS)
def test_the_source_that_line_information_names_is_there(way: str, tmp_path: Path) -> None:
    """CuPy's own calls, which need no GPU: the path in the machine code leads to the text that was compiled."""
    script = KEPT.format(call=CALLS[way])
    subprocess.run([sys.executable, "-c", script, tmp_path], check=True, env=lesson.process_environment())
    disassembler = toolchain.program("nvdisasm")
    assert disassembler
    text = toolchain.run(str(disassembler), "-g", "-c", str(tmp_path / "code.cubin")).stdout
    (named,) = {line.split('"')[1] for line in text.splitlines() if "## File" in line}
    assert Path(named).is_relative_to(tmp_path)
    assert "x[threadIdx.x] += 1.f" in Path(named).read_text()


def test_line_information_for_both_spellings() -> None:
    build = _profile_process.with_line_information(lambda **named: named)
    assert build("code", "name", ("-DA",)) == {"code": "code", "name": "name", "options": ("-DA", "-lineinfo")}
    assert build(code="code", options=("-DA",))["options"] == ("-DA", "-lineinfo")
    assert build(code="code")["options"] == ("-lineinfo",)
    assert build(code="code", backend="nvcc") == {"code": "code", "backend": "nvcc"}


def test_the_process_says_what_is_wrong_without_a_traceback() -> None:
    words = profiling.command("99", "nvrtc")
    done = subprocess.run(words, capture_output=True, text=True, env=lesson.process_environment() | dict(os.environ))
    assert done.returncode == 1
    assert done.stderr.strip().startswith("no lesson '99'")
