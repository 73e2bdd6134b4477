"""What is asked of Nsight Compute and Nsight Systems, and what is said when that fails. No GPU: a script plays them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fourways import building, kernels, nsight, package, toolchain
from fourways.case import Case
from fourways.kernels import InputError

STORED = Path(__file__).parents[1] / "data" / "doublify.ncu-rep"
FORBIDDEN = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
LEAVES_REPORT = f"shutil.copy({str(STORED)!r}, words[words.index('--export') + 1])"
RUNS_PROGRAM = "code = subprocess.run(words[words.index(sys.executable) :]).returncode"


class Program:
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
    """Make a program that this machine, which passes for one with a GPU, finds as its ncu and its nsys."""

    def make(body: str) -> Program:
        made = Program(tmp_path / "ncu", body)
        monkeypatch.setattr(toolchain, "program", lambda name: made.path)
        return made

    monkeypatch.setattr(toolchain, "missing", lambda way: None)
    return make


def test_the_right_options_and_the_report_kept(ncu: Any, tmp_path: Path) -> None:
    fake, kept = ncu(LEAVES_REPORT), tmp_path / "kept.ncu-rep"
    report = nsight.profile("1", "nvcc", 1000, entry="doublify", clocks="none", keep=kept)
    assert report == nsight.read(STORED)
    assert kept.read_bytes() == STORED.read_bytes()
    assert fake.after("--profile-from-start") == "off"
    assert fake.after("--clock-control") == "none"
    assert fake.after("--kernel-name") == "doublify"
    assert fake.after("--import-source") == "1"
    assert str(kernels.root() / "cpp") in fake.after("--source-folders").split(",")
    assert fake.after("--metrics") == nsight.options()[-1]
    assert fake.words[fake.words.index(sys.executable) + 3 :][:3] == ["1", "nvcc", "--size=1000"]


def test_full_collects_everything(ncu: Any) -> None:
    fake = ncu(LEAVES_REPORT)
    nsight.profile("1", full=True)
    assert fake.after("--set") == "full"
    assert "--metrics" not in fake.words
    assert fake.after("--clock-control") == "base"
    assert "--kernel-name" not in fake.words


def test_the_binding_is_built_with_line_information(ncu: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", str(tmp_path / "ours"))
    monkeypatch.setattr(building, "build_binding", lambda kernel, folder, options: asked.append((folder, *options)))
    fake = ncu(LEAVES_REPORT)
    nsight.profile("1", "pybind11")
    ((folder, option),) = asked
    assert option == "-DCMAKE_CUDA_FLAGS=-lineinfo" and folder.is_relative_to(tmp_path / "ours")
    assert f"--binding={folder}" in fake.words


def test_missing_rights_are_one_line_with_the_remedy(ncu: Any, tmp_path: Path) -> None:
    ncu(f"print({FORBIDDEN!r}); sys.exit(1)")
    kept = tmp_path / "kept.ncu-rep"
    remedy = "ERR_NVGPUCTRPERM.*NVreg_RestrictProfilingToAdminUsers"
    with pytest.raises(nsight.NoCountersError, match=remedy) as told:
        nsight.profile("1", keep=kept)
    assert "\n" not in str(told.value)
    assert not kept.exists()


def test_the_refusal_of_a_program_of_ones_own() -> None:
    """As lesson 07 asks, which runs ncu itself."""
    assert isinstance(nsight.refused(FORBIDDEN), nsight.NoCountersError)
    told = nsight.refused("==PROF== Connected\n==ERROR== no such option")
    assert "==ERROR== no such option" in str(told) and "Connected" not in str(told)


def test_nsight_computes_own_words(ncu: Any) -> None:
    ncu("print('==PROF== Connected'); print('==WARNING== No kernels were profiled.')")
    with pytest.raises(nsight.ProfilingError, match="No kernels were profiled") as told:
        nsight.profile("1", entry="nothing")
    assert not isinstance(told.value, nsight.NoCountersError)
    assert "Connected" not in str(told.value)


def test_without_nsight_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda way: None)
    monkeypatch.setattr(toolchain, "program", lambda name: None)
    with pytest.raises(nsight.NoCountersError, match=r"\(ncu\) is not on this machine: .*nsight-compute"):
        nsight.profile("1")


def test_without_the_package_that_reads(ncu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = ncu(LEAVES_REPORT)
    monkeypatch.setitem(sys.modules, "ncu_report", None)
    with pytest.raises(nsight.NoCountersError, match="pip install ncu-report"):
        nsight.profile("1")
    assert not fake.noted.exists()  # said before a long run, not after


def test_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda way: "no NVIDIA driver")
    with pytest.raises(nsight.ProfilingError, match="no NVIDIA driver") as told:
        nsight.profile("1")
    assert not isinstance(told.value, nsight.NoCountersError)  # nothing can be timed by events either


@pytest.mark.parametrize(
    ("target", "way", "entry", "message"),
    [
        ("99", "nvrtc", None, "no lesson '99'"),
        ("nothing.cu", "nvrtc", None, "no file nothing.cu"),
        ("1", "fortran", None, "01_doublify has no way fortran"),
        ("mine.cu", "nvrtc", "nothing", "no kernel 'nothing' in mine.cu; there are: mine"),
        ("mine.cu", "nvrtc", "mine", r"mine\(const float \*x\) writes nothing"),
    ],
)
def test_what_cannot_be_profiled_is_said_before_anything_runs(
    ncu: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, way: str, entry: str | None, message: str
) -> None:
    fake = ncu(LEAVES_REPORT)
    monkeypatch.chdir(tmp_path)
    Path("mine.cu").write_text('extern "C" __global__ void mine(const float *x) {}\n')
    with pytest.raises(InputError, match=message):
        nsight.profile(target, way, entry=entry)
    assert not fake.noted.exists()


def test_the_binding_of_a_kernel_of_ones_own_is_built_before_anything_runs(
    ncu: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler under ncu takes minutes; the process that is profiled finds what was built."""
    fake, mine, built = ncu(LEAVES_REPORT), tmp_path / "mine.cu", []
    mine.write_text('extern "C" __global__ void mine(const float *x, float *y, long long n) {}\n')

    def kept_folder(case: Case) -> Path:
        assert not fake.noted.exists()
        built.append(case.entry)
        return tmp_path / "kept"

    monkeypatch.setattr(package, "kept_folder", kept_folder)
    call = [str(mine), "pybind11", "--size=1000", f"--binding={tmp_path / 'kept'}"]
    nsight.profile(str(mine), "pybind11", 1000)
    assert built == ["mine"] and fake.words[-5:-1] == call
    fake.noted.unlink()
    words = nsight.nsys_command(str(mine), "pybind11", 1000, tmp_path / "mine.nsys-rep")
    assert built == ["mine"] * 2 and words[-4:] == call


def test_nsys_is_asked_for_the_same_process(ncu: Any, tmp_path: Path) -> None:
    fake, output = ncu(""), tmp_path / "mine.nsys-rep"
    words = nsight.nsys_command("1", "pycuda", 1000, output, "doublify")
    assert words[:2] == [str(fake.path), "profile"] and f"--output={output}" in words
    assert words[-4:] == ["1", "pycuda", "--size=1000", "--entry=doublify"]
    nsight.run_nsys(words)
    assert fake.words == words[1:]


def test_nsys_that_fails_is_an_error(ncu: Any) -> None:
    fake = ncu("sys.exit(3)")
    with pytest.raises(nsight.ProfilingError, match="exit code 3 of: .*ncu profile"):
        nsight.run_nsys([str(fake.path), "profile"])


def test_nsys_that_is_missing_still_has_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "program", lambda name: None)
    words = nsight.nsys_command("1", "nvrtc", 1000, Path("mine.nsys-rep"))
    assert words[:2] == ["nsys", "profile"]
    with pytest.raises(nsight.ProfilingError, match=r"nsys\) is not on this machine"):
        nsight.run_nsys(words)
