"""The doctor on sound machines and on spoiled ones; a machine is a table of tools, or folders (layouts.py)."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import layouts
import pytest

from fourways import doctor, toolchain
from fourways.doctor import checks
from fourways.doctor.checks import Finding, Tool, judge
from fourways.toolchain import Driver, Gpu

DRIVER = Driver("580.159.04", "13.0")
H200 = Gpu("NVIDIA H200", "9.0", "sm_90", 139 << 30)
Tools = dict[str, Tool]


@pytest.fixture
def sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    """A machine on which nothing is wrong. Its toolkit is CUDA_PATH's, its PyCUDA a stand-in."""
    toolkit, pycuda = tmp_path / "toolkit", tmp_path / "packages" / "pycuda"
    layouts.toolkit(toolkit, parts=("headers",))
    pycuda.mkdir(parents=True)
    (pycuda / "__init__.py").touch()
    (pycuda / "driver.py").write_text("def get_version(): return (13, 0, 0)")
    monkeypatch.setenv("CUDA_PATH", str(toolkit))
    monkeypatch.setenv("PYTHONPATH", str(pycuda.parent))
    monkeypatch.setattr(toolchain, "missing", lambda need: None)
    monkeypatch.setattr(toolchain, "installed", lambda module: Path(module))
    monkeypatch.setattr(checks.importlib.metadata, "distributions", lambda: [])
    found = [Tool(name, toolkit / "bin" / name, "13.0.88") for name in ("nvcc", "cuobjdump", "nvdisasm")]
    found += [Tool(name, tmp_path / name, "4.0") for name in ("cmake", "ninja", "pycuda", "fourways_aot")]
    found += [
        Tool("NVRTC", toolkit / "lib" / "libnvrtc.so.13", "13.0"),
        Tool("nvJitLink", toolkit / "lib" / "libnvJitLink.so.13", "13.0"),
        Tool("CUDA headers", toolkit / "include", "13.0"),
        Tool("host compiler", layouts.script(tmp_path / "g++", "exit 0"), "12.2.0"),
    ]
    return {tool.name: tool for tool in found}


def spoil(machine: Tools, name: str, **changes: object) -> Tools:
    return machine | {name: replace(machine[name], **changes)}  # type: ignore[arg-type]


def found(machine: Tools, driver: Driver | None = DRIVER, gpus: Sequence[Gpu] = (H200,)) -> list[Finding]:
    return list(judge(machine, driver, gpus))


def only(findings: list[Finding], level: str) -> Finding:
    """The one finding, which has this level; whatever is wrong must come with a remedy."""
    (finding,) = findings
    assert finding.level == level
    assert finding.remedy or level == "note"
    return finding


def test_on_a_sound_machine_nothing_is_found(sound: Tools) -> None:
    assert found(sound) == []
    assert found(sound, None, []) == []


@pytest.mark.parametrize(
    ("need", "level", "level_without_driver"),
    [
        ("nvcc", "error", "error"),
        ("host compiler", "error", "error"),
        ("fourways_aot", "warning", "warning"),
        ("pycuda", "warning", None),
        ("nanobind", "note", "note"),
        ("torch", "note", None),
    ],
)
def test_what_is_missing_is_said_in_the_words_of_skipped_cells(
    sound: Tools, monkeypatch: pytest.MonkeyPatch, need: str, level: str, level_without_driver: str | None
) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda asked: f"no {need}: get {need}" if asked == need else None)
    gone = spoil(sound, need, path=None, version=None) if need in sound else sound
    finding = only(found(gone), level)
    assert (finding.tool, finding.remedy) == (need, f"get {need}") and finding.what.startswith(f"no {need}")
    assert [each.level for each in found(gone, None, [])] == ([level_without_driver] if level_without_driver else [])


@pytest.mark.parametrize(
    ("name", "level"),
    [("NVRTC", "error"), ("CUDA headers", "error"), *((name, "warning") for name in ("cuobjdump", "cmake", "ninja"))],
)
def test_a_tool_that_is_missing(sound: Tools, name: str, level: str) -> None:
    finding = only(found(spoil(sound, name, path=None, version=None)), level)
    assert (finding.tool, finding.what, finding.remedy) == (name, f"no {name} found", "make setup")


@pytest.mark.parametrize(("present", "level"), [(None, "note"), (DRIVER, "warning")])
def test_no_gpu(sound: Tools, monkeypatch: pytest.MonkeyPatch, present: Driver | None, level: str) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda need: "no GPU here" if need == "gpu" else None)
    finding = only(found(sound, present, []), level)
    assert finding.tool == "GPU" and "no GPU here" in finding.what and "the host way" in finding.what


def test_lessons_need_a_clone(sound: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    finding = only(found(sound), "error")
    assert finding.what == "no clone of Four Ways found" and "set FOURWAYS_ROOT" in finding.remedy
    (tmp_path / "cpp" / "kernels").mkdir(parents=True)
    assert found(sound) == []


def test_lessons_need_their_packages(sound: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "installed", lambda module: None if module == "nbclient" else Path(module))
    assert only(found(sound), "error").what.endswith("without: nbclient")
    monkeypatch.setattr(toolchain, "installed", lambda module: Path(module))
    monkeypatch.setattr(toolchain, "distributions", lambda *_: {"cupy-cuda13x": "14.2", "cupy": "14.2"})
    assert "pip uninstall cupy-cuda13x cupy;" in only(found(sound), "error").remedy


@pytest.mark.parametrize(("prefix", "level"), [("/clone/.venv", "error"), ("/usr", "warning")])
def test_a_package_that_is_half_there(
    sound: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str, level: str
) -> None:
    """As an interrupted installation leaves it; bytecode may be missing."""
    about = tmp_path / "half-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: half\nVersion: 1.0\n")
    listed = ["half/__init__.py", "half/a, b.py", "half/__pycache__/a.pyc", "half-1.0.dist-info/METADATA"]
    (about / "RECORD").write_text("".join(f'"{name}",sha256=x,1\n' for name in listed))
    half = checks.importlib.metadata.Distribution.at(about)
    monkeypatch.setattr(checks.importlib.metadata, "distributions", lambda: [half])
    monkeypatch.setattr(sys, "prefix", prefix)
    finding = only([each for each in found(sound) if each.tool == "packages"], level)
    assert finding.what == "the package half lacks 2 of its files"
    remedy = "rm -rf .venv; make setup" if level == "error" else "pip install --force-reinstall --no-deps half"
    assert finding.remedy == remedy


@pytest.mark.parametrize(
    ("name", "version", "level", "says"),
    [
        *((name, "13.2.1", "warning", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION") for name in ("nvcc", "NVRTC")),
        *((name, "14.0.1", "error", "too old to run anything of CUDA 14") for name in ("nvcc", "NVRTC")),
    ],
)
def test_newer_than_the_driver(sound: Tools, name: str, version: str, level: str, says: str) -> None:
    newer = spoil(sound, name, version=version)
    pair = [each for each in found(newer) if each.what.startswith(f"{name} {version} and the driver (CUDA 13.0)")]
    assert says in only(pair, level).what and pair[0].tool == name
    assert not any("and the driver" in each.what for each in found(newer, None, []))


def test_headers_of_another_version(sound: Tools) -> None:
    assert found(spoil(sound, "CUDA headers", path=Path("/usr/include"))) == []
    finding = only(found(spoil(sound, "CUDA headers", path=Path("/usr/include"), version="12.8")), "warning")
    assert finding.what == "NVRTC 13.0 is from CUDA_PATH, the CUDA headers 12.8 from PATH, /usr"


def test_cupy_of_another_cuda(sound: Tools) -> None:
    errors = [each for each in found(spoil(sound, "NVRTC", version="12.8")) if each.tool == "cupy"]
    assert only(errors, "error").what == "cupy-cuda13x does not go with the NVRTC 12.8 that it loads"


def test_gpu_older_than_cuda_13_compiles_for(sound: Tools) -> None:
    old, new = replace(H200, name="V100", arch="sm_70"), replace(H200, name="newest", arch="sm_130")
    assert found(sound, gpus=[new]) == []
    assert "V100 (sm_70): CUDA 13 begins with sm_75" in only(found(sound, gpus=[old]), "error").what


@pytest.mark.parametrize(
    ("module", "says"),
    [
        ("def get_version(): return (12, 8, 0)", "built against CUDA 12.8; nvcc is 13.0.88, the driver's CUDA 13.0"),
        ("raise ImportError('undefined symbol: cuArrayCreate_v2')", "undefined symbol: cuArrayCreate_v2"),
    ],
)
def test_pycuda_that_does_not_fit(sound: Tools, tmp_path: Path, module: str, says: str) -> None:
    """Where there is a driver: without one PyCUDA has nothing to run on."""
    (tmp_path / "packages" / "pycuda" / "driver.py").write_text(module)
    finding = only(found(sound), "warning")
    assert finding.what.endswith(says) and finding.remedy == "fourways install-pycuda"
    assert found(sound, None, []) == []


def test_binding_for_other_gpus(sound: Tools, tmp_path: Path) -> None:
    """What the module holds is read from it: machine code, and PTX by another name."""
    (tmp_path / "empty.cu").write_text("__global__ void empty() {}\n")
    targets = ["-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_100,code=compute_100"]
    command = ["nvcc", *targets, "-shared", "-Xcompiler=-fPIC", "empty.cu", "-o", "empty.so"]
    subprocess.run(command, cwd=tmp_path, env=os.environ | toolchain.variables(), check=True)
    built = spoil(sound, "fourways_aot", path=tmp_path / "empty.so")
    finding = only(found(built), "warning")
    assert finding.what == "fourways_aot holds code for compute_100, sm_75; none runs on NVIDIA H200 (sm_90)"
    for arch in ("sm_75", "sm_120"):
        assert found(built, gpus=[replace(H200, arch=arch)]) == []


def test_diagnosis_of_this_machine() -> None:
    diagnosis = doctor.diagnose()
    here = {tool.name: tool for tool in diagnosis.tools}
    assert here["nvcc"].path == toolchain.nvcc() and (here["nvcc"].version or "").startswith("13.")
    assert here["cupy"].version in toolchain.distributions(*toolchain.CUPY).values()
    assert all(each.remedy for each in diagnosis.findings if each.level in ("warning", "error"))
