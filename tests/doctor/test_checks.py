"""Each finding of the doctor, on machines that have its trouble and on one that has not."""

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import layouts
import pytest

from fourways import files, toolchain
from fourways.doctor import checks
from fourways.doctor.checks import Finding, judge
from fourways.doctor.inventory import Tool
from fourways.toolchain import Driver, Gpu

DRIVER = Driver("580.159.04", "13.0")
H200 = Gpu("NVIDIA H200", "9.0", "sm_90", 139 << 30)
PROBLEMS = ("note", "warning", "error")


def spoil(tools: dict[str, Tool], name: str, **changes: object) -> dict[str, Tool]:
    return tools | {name: replace(tools[name], **changes)}  # type: ignore[arg-type]


def problems(tools: dict[str, Tool], driver: Driver | None = DRIVER, gpus: Iterable[Gpu] = (H200,)) -> list[Finding]:
    return [found for found in judge(tools, driver, list(gpus)) if found.level != "ok"]


def only(findings: list[Finding], level: str) -> Finding:
    """The one finding, which has this level; whatever is wrong must come with a remedy."""
    (found,) = findings
    assert found.level == level
    assert found.remedy or level == "note"
    return found


def test_a_sound_machine_has_nothing_wrong(tools: dict[str, Tool]) -> None:
    found = judge(tools, DRIVER, [H200])
    assert {finding.level for finding in found} == {"ok"}, found
    assert [finding.what for finding in found] == [
        "GPU: NVIDIA H200 (sm_90)",
        "nvcc 13.0.88 and the driver (CUDA 13.0) fit",
        "NVRTC 13.0 and the driver (CUDA 13.0) fit",
        "NVRTC 13.0 and the CUDA headers 13.0 are of one origin",
        "NVRTC 13.0 and nvJitLink 13.0 can link with LTO",
        "nvcc 13.0.88 and nvJitLink 13.0 can link with LTO",
        f"what some lessons use: {', '.join(toolchain.PACKAGES)}",
        f"Four Ways's cache {files.cache_dir()} holds 0 MiB; at 1024 the oldest go",
    ]


@pytest.mark.parametrize(("prefix", "level"), [("/clone/.venv", "error"), ("/usr", "warning")])
def test_a_package_that_is_half_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str, level: str) -> None:
    """As an interrupted installation leaves it; bytecode may be missing."""
    about = tmp_path / "half-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: half\nVersion: 1.0\n")
    listed = ["half/__init__.py", "half/a, b.py", "half/__pycache__/a.pyc", "half-1.0.dist-info/METADATA"]
    (about / "RECORD").write_text("".join(f'"{name}",sha256=x,1\n' for name in listed))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "prefix", prefix)
    found = only(list(checks.judge_files()), level)
    assert found.what == "the package half lacks 2 of its files"
    assert found.remedy == (
        "rm -rf .venv; make setup" if level == "error" else "pip install --force-reinstall --no-deps half"
    )


def test_lessons_need_a_clone(tools: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    found = only(problems(tools), "error")
    assert found.what == "no clone of Four Ways found"
    assert "set FOURWAYS_ROOT" in found.remedy
    (tmp_path / "cpp" / "kernels").mkdir(parents=True)
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "README.md").touch()
    assert only(problems(tools), "error").what == f"no lessons in {tmp_path / 'lessons'}"
    (tmp_path / "lessons" / "00_first.md").touch()
    assert problems(tools) == []


def test_no_gpu_is_a_note(tools: dict[str, Tool]) -> None:
    found = only(problems(tools, None, []), "note")
    assert "no NVIDIA driver" in found.what
    assert "the host way" in found.what


def test_a_driver_without_gpu_is_a_warning(
    tools: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layouts.takes_driver(monkeypatch, layouts.driver(tmp_path / "none.so", init=100))
    found = only(problems(tools, toolchain.driver(), toolchain.gpus()), "warning")
    assert "CUDA_ERROR_NO_DEVICE" in found.what


def test_lessons_need_their_packages(tools: dict[str, Tool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "installed", lambda module: None if module == "nbclient" else Path(module))
    assert only(problems(tools), "error").what.endswith("without: nbclient")


def test_what_some_lessons_use_is_no_failure(tools: dict[str, Tool], monkeypatch: pytest.MonkeyPatch) -> None:
    """A note each, in the words of the skipped cells; of what only a GPU makes use of, where a driver is."""
    absent = {"nanobind": "nanobind is not installed: make setup", "torch": "PyTorch is not installed: pip install it"}
    monkeypatch.setattr(toolchain, "missing", absent.get)
    nanobind, torch = problems(tools)
    assert nanobind == Finding("note", "nanobind is not installed: cells that need it are skipped", "make setup")
    assert torch == Finding("note", "PyTorch is not installed: cells that need it are skipped", "pip install it")
    found = judge(tools, None, [])
    assert nanobind in found and torch not in found
    assert Finding("ok", "what some lessons use: pystencils, distributed, Cython") in found
    monkeypatch.setattr(toolchain, "missing", lambda need: f"no {need}: make setup")
    found = [each for each in judge(tools, DRIVER, [H200]) if each.what.endswith("are skipped")]
    assert len(found) == len(toolchain.PACKAGES) and {each.level for each in found} == {"note"}


def test_two_cupy_wheels(tools: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = tmp_path / "site" / "cupy-14.2.0.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Name: cupy\nVersion: 14.2.0\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    found = only(problems(tools), "error")
    assert found.what == "cupy-cuda13x and cupy overwrite each other's files"
    assert "pip uninstall cupy-cuda13x cupy;" in found.remedy


def test_cupy_of_another_cuda(tools: dict[str, Tool]) -> None:
    found, mixed = problems(spoil(spoil(tools, "NVRTC", version="12.8"), "CUDA headers", version="12.8"))
    assert (found.level, mixed.level) == ("error", "warning") and "LTO-IR of its own major version" in mixed.what
    assert found.what == "cupy-cuda13x does not go with the NVRTC 12.8 that it loads"


@pytest.mark.parametrize("change", [{"path": None, "version": None}, {"version": None}])
def test_nvcc_missing_or_broken(tools: dict[str, Tool], change: dict[str, object]) -> None:
    found = problems(spoil(tools, "nvcc", **change), None)
    assert "nvcc" in only([finding for finding in found if finding.level != "note"], "error").what


@pytest.mark.parametrize("name", ["cuobjdump", "nvdisasm", "cmake", "ninja"])
def test_small_tool_missing(tools: dict[str, Tool], name: str) -> None:
    assert only(problems(spoil(tools, name, path=None)), "warning").what == f"no {name} found"


def test_another_nvcc_is_named_by_the_user(tools: dict[str, Tool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVCC", "/opt/other/nvcc")
    assert "/opt/other/nvcc" in only(problems(tools), "note").what
    monkeypatch.setenv("NVCC", str(tools["nvcc"].path))
    assert problems(tools) == []


def test_host_compiler_missing(tools: dict[str, Tool]) -> None:
    assert "apt install g++" in only(problems(spoil(tools, "host compiler", path=None)), "error").remedy


def test_host_compiler_too_old(tools: dict[str, Tool], tmp_path: Path) -> None:
    """Too old is what cannot compile <barrier>; the compiler is asked, not a table of versions."""
    old = layouts.script(tmp_path / "old-g++", 'grep -q "#include <barrier>" && exit 1')
    assert "C++20" in only(problems(spoil(tools, "host compiler", path=old)), "error").what


@pytest.mark.parametrize(
    ("program", "line"),
    [("g++", "#if __GNUC__ > 11"), ("clang++", "#if (__clang_major__ >= 12) || (__clang_major__ < 3)")],
)
def test_host_compiler_too_new_for_nvcc(tools: dict[str, Tool], tmp_path: Path, program: str, line: str) -> None:
    """The limit is read from the toolkit's own crt/host_config.h."""
    (tmp_path / "toolkit" / "include" / "crt" / "host_config.h").write_text(line)
    tools = spoil(tools, "host compiler", path=layouts.script(tmp_path / program, "exit 0"))
    warning = only(problems(tools), "warning")
    assert "(12.2.0) is too new for this nvcc, which takes up to version 11" in warning.what
    assert f"CXX={program}-11" in warning.remedy
    for version in ("11.4.0", None):
        assert problems(spoil(tools, "host compiler", version=version)) == []


def test_the_limit_is_read_from_real_headers(tools: dict[str, Tool]) -> None:
    real = spoil(tools, "CUDA headers", path=toolchain.include_dirs()[0])
    new = [found.what for found in problems(spoil(real, "host compiler", version="99.1"), None, [])]
    assert any("too new for this nvcc" in what for what in new), new
    usual = [found.what for found in problems(spoil(real, "host compiler", version="13.1"), None, [])]
    assert not any("too new for this nvcc" in what for what in usual), usual


@pytest.mark.parametrize(
    ("version", "level", "says"),
    [
        ("13.0.88", "ok", "fit"),
        ("12.9.1", "ok", "fit"),
        ("13.2.1", "warning", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
        ("14.0.1", "error", "too old to run anything of CUDA 14"),
    ],
)
@pytest.mark.parametrize("name", ["nvcc", "NVRTC"])
def test_toolkit_newer_than_driver(tools: dict[str, Tool], name: str, version: str, level: str, says: str) -> None:
    found = judge(spoil(tools, name, version=version), DRIVER, [H200])
    pair = [item for item in found if item.what.startswith(f"{name} {version} and the driver (CUDA 13.0)")]
    assert [item.level for item in pair] == [level] and says in pair[0].what
    without = judge(spoil(tools, name, version=version), None, [])
    assert not any("and the driver" in item.what for item in without)


@pytest.mark.parametrize("name", ["NVRTC", "CUDA headers"])
def test_nvrtc_or_headers_missing(tools: dict[str, Tool], name: str) -> None:
    assert f"no {name} found" in only(problems(spoil(tools, name, path=None)), "error").what


@pytest.mark.parametrize(
    ("version", "level", "says"), [("13.0", "note", "; the versions agree"), ("12.8", "warning", ", another version")]
)
def test_headers_of_another_origin(tools: dict[str, Tool], version: str, level: str, says: str) -> None:
    found = only(problems(spoil(tools, "CUDA headers", path=Path("/usr/include"), version=version)), level)
    assert found.what == f"NVRTC 13.0 is from CUDA_PATH, the CUDA headers {version} from PATH, /usr{says}"


def nvrtc_that_knows(path: Path, *archs: int) -> Path:
    listed = "".join(f"archs[{index}] = {arch}; " for index, arch in enumerate(archs))
    code = f"int nvrtcGetNumSupportedArchs(int *count) {{ *count = {len(archs)}; return 0; }}\n"
    return layouts.library(path, f"{code}int nvrtcGetSupportedArchs(int *archs) {{ {listed}return 0; }}\n")


def test_gpu_unknown_to_nvrtc(tools: dict[str, Tool], tmp_path: Path) -> None:
    folder = tmp_path / "toolkit" / "lib"
    older = spoil(tools, "NVRTC", path=nvrtc_that_knows(folder / "older.so", 80, 75))
    assert "(sm_90); it knows sm_75 to sm_80" in only(problems(older), "error").what
    assert problems(spoil(tools, "NVRTC", path=nvrtc_that_knows(folder / "newer.so", 75, 90))) == []


@pytest.mark.parametrize(
    ("module", "says"),
    [
        ("def get_version(): return (12, 8, 0)", "built against CUDA 12.8; nvcc is 13.0.88, the driver's CUDA 13.0"),
        ("raise ImportError('undefined symbol: cuArrayCreate_v2')", "undefined symbol: cuArrayCreate_v2"),
    ],
)
def test_pycuda_that_does_not_fit(tools: dict[str, Tool], tmp_path: Path, module: str, says: str) -> None:
    """Where there is a driver: without one PyCUDA has nothing to run on."""
    (tmp_path / "packages" / "pycuda" / "driver.py").write_text(module)
    found = only(problems(tools), "warning")
    assert found.what.endswith(says)
    assert found.remedy == "fourways install-pycuda"
    only(problems(tools, None, []), "note")


def test_a_compiler_without_a_version_is_compared_with_nothing(tools: dict[str, Tool]) -> None:
    for changes in ({"version": None}, {"version": None, "path": None}):
        found = judge(spoil(tools, "nvcc", **changes), DRIVER, [H200])
        assert [each.level for each in found if "nvcc" in each.what] == ["error"], found
        assert not [each for each in found if "None" in each.what], found


def test_pycuda_missing(tools: dict[str, Tool]) -> None:
    missing = spoil(tools, "PyCUDA", path=None)
    assert only(problems(missing), "warning").remedy == "fourways install-pycuda"
    only(problems(missing, None, []), "note")


def test_binding_missing(tools: dict[str, Tool]) -> None:
    assert "fourways_aot is not built" in only(problems(spoil(tools, "fourways_aot", path=None)), "warning").what


def test_binding_for_other_gpus(tools: dict[str, Tool], tmp_path: Path) -> None:
    """What the module holds is read from it: machine code, and PTX by another name."""
    (tmp_path / "empty.cu").write_text("__global__ void empty() {}\n")
    targets = ["-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_100,code=compute_100"]
    command = ["nvcc", *targets, "-shared", "-Xcompiler=-fPIC", "empty.cu", "-o", "empty.so"]
    subprocess.run(command, cwd=tmp_path, env=os.environ | toolchain.variables(), check=True)
    tools = spoil(tools, "fourways_aot", path=tmp_path / "empty.so")
    found = only(problems(tools), "warning")
    assert found.what == "fourways_aot holds code for compute_100, sm_75; none runs on NVIDIA H200 (sm_90)"
    for arch in ("sm_75", "sm_120"):
        assert problems(tools, gpus=[replace(H200, arch=arch)]) == []
