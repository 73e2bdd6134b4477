"""Each finding of the doctor, on machines that have its trouble and on one that has not."""

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import layouts
import pytest
from rich.console import Console

from fourways import devices, doctor, inventory, judging, toolchain
from fourways.inventory import Tool
from fourways.toolchain import Driver, Gpu

DRIVER = Driver("580.159.04", "13.0")
H200 = Gpu("NVIDIA H200", "9.0", "sm_90", 139 << 30)


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, Tool]:
    """A sound machine's tools; tests spoil one of them."""
    gxx = layouts.script(tmp_path / "g++", "exit 0")
    include = tmp_path / "toolkit" / "include"
    layouts.header(include / "cuda_runtime_api.h", "CUDART_VERSION", 13000)
    found = {
        name: Tool(name, tmp_path / "toolkit" / "bin" / name, "13.0.88") for name in ("nvcc", "cuobjdump", "nvdisasm")
    }
    found |= {name: Tool(name, tmp_path / name, "4.0") for name in ("cmake", "ninja", "PyCUDA", "fourways_aot")}
    found["NVRTC"] = Tool("NVRTC", tmp_path / "toolkit" / "lib" / "libnvrtc.so.13", "13.0")
    found["nvJitLink"] = Tool("nvJitLink", tmp_path / "toolkit" / "lib" / "libnvJitLink.so.13", "13.5")
    found["CUDA headers"] = Tool("CUDA headers", include, "13.0")
    found["host compiler"] = Tool("host compiler", gxx, "12.2.0")
    return found


@pytest.fixture(autouse=True)
def one_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "origin", lambda path: "the toolkit" if "toolkit" in path.parts else "elsewhere")
    monkeypatch.delenv("NVCC", raising=False)


def spoil(tools: dict[str, Tool], name: str, **changes: object) -> dict[str, Tool]:
    return tools | {name: replace(tools[name], **changes)}  # type: ignore[arg-type]


def levels(findings: object) -> list[str]:
    return [finding.level for finding in findings]  # type: ignore[attr-defined]


def only(findings: object, level: str) -> judging.Finding:
    """The one finding of this level; whatever is wrong must come with a remedy."""
    (found,) = [finding for finding in findings if finding.level == level]  # type: ignore[attr-defined]
    assert found.remedy or level in ("ok", "note")
    return found


def test_a_sound_machine_has_nothing_wrong(tools: dict[str, Tool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "pycuda_built_against", lambda: ("13.0", ""))
    monkeypatch.setattr(inventory, "binding_architectures", lambda path: {"sm_90"})
    monkeypatch.setattr(inventory, "nvrtc_architectures", lambda path: [75, 90])
    monkeypatch.setattr(judging, "caches", dict)  # those of this machine have tests of their own
    found = judging.judge(tools, DRIVER, [H200])
    assert set(levels(found)) == {"ok"}, found


def test_lessons_need_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(judging.judge_clone()) == []
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    found = only(judging.judge_clone(), "error")
    assert found.what == "no clone of Four Ways found"
    assert "set FOURWAYS_ROOT" in found.remedy
    (tmp_path / "cpp" / "kernels").mkdir(parents=True)
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "README.md").touch()
    assert only(judging.judge_clone(), "error").what == f"no lessons in {tmp_path / 'lessons'}"
    (tmp_path / "lessons" / "00_first.md").touch()
    assert list(judging.judge_clone()) == []


def test_without_a_clone_the_report_says_that_no_lesson_can_run(
    tools: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    monkeypatch.setattr(inventory, "tools", lambda: tools)
    report = doctor.report()
    assert not report.lessons_can_run
    assert "no clone of Four Ways found" in [finding.what for finding in report.findings]


def test_no_gpu_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    found = only(judging.judge_gpu(None, []), "note")
    assert "no NVIDIA driver" in found.what
    assert "the host way" in found.what
    monkeypatch.setattr(toolchain, "driver", lambda: replace(DRIVER, problem="cuInit: CUDA_ERROR_NO_DEVICE"))
    monkeypatch.setattr(toolchain, "gpus", lambda: [])
    assert "CUDA_ERROR_NO_DEVICE" in only(judging.judge_gpu(DRIVER, []), "warning").what


def test_lessons_need_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "installed", lambda module: None if module == "nbclient" else Path(module))
    found = only(judging.judge_lesson_machine(), "error")
    assert found.what.endswith("nbclient")


def test_two_cupy_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "versions", lambda *names: {"cupy-cuda12x": "14.2", "cupy-cuda13x": "14.2"})
    assert "pip uninstall cupy-cuda12x cupy-cuda13x" in only(judging.judge_lesson_machine(), "error").remedy


@pytest.mark.parametrize("change", [{"path": None}, {"version": None}])
def test_nvcc_missing_or_broken(tools: dict[str, Tool], change: dict[str, object]) -> None:
    only(judging.judge_compilers(spoil(tools, "nvcc", **change)), "error")


@pytest.mark.parametrize("name", ["cuobjdump", "nvdisasm", "cmake", "ninja"])
def test_small_tool_missing(tools: dict[str, Tool], name: str) -> None:
    assert name in only(judging.judge_compilers(spoil(tools, name, path=None)), "warning").what


def test_another_nvcc_is_named_by_the_user(tools: dict[str, Tool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVCC", "/opt/other/nvcc")
    assert "/opt/other/nvcc" in only(judging.judge_compilers(tools), "note").what
    monkeypatch.setenv("NVCC", str(tools["nvcc"].path))
    assert levels(judging.judge_compilers(tools)) == []


def test_host_compiler_missing(tools: dict[str, Tool]) -> None:
    assert (
        "apt install g++" in only(judging.judge_host_compiler(spoil(tools, "host compiler", path=None)), "error").remedy
    )


def test_host_compiler_too_old(tools: dict[str, Tool], tmp_path: Path) -> None:
    """Too old is what cannot compile <barrier>; the compiler is asked, not a table of versions."""
    old = layouts.script(tmp_path / "old-g++", 'grep -q "#include <barrier>" && exit 1')
    assert "C++20" in only(judging.judge_host_compiler(spoil(tools, "host compiler", path=old)), "error").what


@pytest.mark.parametrize(
    ("program", "line", "newest"),
    [("g++", "#if __GNUC__ > 11", 11), ("clang++", "#if (__clang_major__ >= 12) || (__clang_major__ < 3)", 11)],
)
def test_host_compiler_too_new_for_nvcc(
    tools: dict[str, Tool], tmp_path: Path, program: str, line: str, newest: int
) -> None:
    """The limit is read from the toolkit's own crt/host_config.h."""
    limits = tmp_path / "toolkit" / "include" / "crt" / "host_config.h"
    limits.parent.mkdir()
    limits.write_text(line)
    tools = spoil(tools, "host compiler", path=layouts.script(tmp_path / program, "exit 0"))
    assert f"up to version {newest}" in only(judging.judge_host_compiler(tools), "warning").what
    assert levels(judging.judge_host_compiler(spoil(tools, "host compiler", version="11.4.0"))) == []


def test_the_limit_is_read_from_real_headers() -> None:
    newest = inventory.newest_host_compiler(toolchain.include_dirs()[0], "gcc")
    assert newest and 13 <= newest < 100


@pytest.mark.parametrize(
    ("nvcc", "level", "says"),
    [
        ("13.0.88", "ok", "fit"),
        ("12.9.1", "ok", "fit"),
        ("13.2.1", "warning", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
        ("14.0.1", "error", "too old to run anything of CUDA 14"),
    ],
)
@pytest.mark.parametrize("name", ["nvcc", "NVRTC"])
def test_toolkit_newer_than_driver(tools: dict[str, Tool], name: str, nvcc: str, level: str, says: str) -> None:
    found = [
        item for item in judging.judge_driver(spoil(tools, name, version=nvcc), DRIVER) if item.what.startswith(name)
    ]
    assert says in only(found, level).what
    assert list(judging.judge_driver(spoil(tools, name, version=nvcc), None)) == []


def test_nvrtc_or_headers_missing(tools: dict[str, Tool]) -> None:
    only(judging.judge_nvrtc(spoil(tools, "NVRTC", path=None), []), "error")
    only(judging.judge_nvrtc(spoil(tools, "CUDA headers", path=None), []), "error")


@pytest.mark.parametrize(("version", "level"), [("13.0", "note"), ("12.8", "warning")])
def test_headers_of_another_origin(tools: dict[str, Tool], version: str, level: str) -> None:
    strange = spoil(tools, "CUDA headers", path=Path("/usr/include"), version=version)
    assert "elsewhere" in only(judging.judge_nvrtc(strange, []), level).what


def test_cupy_of_another_cuda(tools: dict[str, Tool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "versions", lambda *names: {"cupy-cuda12x": "14.2"})
    assert "cupy-cuda12x" in only(judging.judge_nvrtc(tools, []), "error").what


def test_gpu_unknown_to_nvrtc(tools: dict[str, Tool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "nvrtc_architectures", lambda path: [75, 80])
    assert "sm_90" in only(judging.judge_nvrtc(tools, [H200]), "error").what


def test_this_nvrtc_knows_its_architectures() -> None:
    library = inventory.loaded_library("nvrtc")
    assert library and {75, 90} <= set(inventory.nvrtc_architectures(library))


@pytest.mark.parametrize(("name", "version"), [("NVRTC", "13.6"), ("nvcc", "13.6.1")])
def test_compiler_newer_than_linker(tools: dict[str, Tool], name: str, version: str) -> None:
    assert name in only(judging.judge_linker(spoil(tools, name, version=version)), "warning").what
    only(judging.judge_linker(spoil(tools, "nvJitLink", path=None)), "warning")


@pytest.mark.parametrize(
    ("module", "says"),
    [
        ("def get_version(): return (12, 8, 0)", "built against CUDA 12.8"),
        ("raise ImportError('undefined symbol: cuArrayCreate_v2')", "undefined symbol: cuArrayCreate_v2"),
    ],
)
def test_pycuda_that_does_not_fit(
    tools: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, says: str
) -> None:
    package = tmp_path / "packages" / "pycuda"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "driver.py").write_text(module)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    found = only(judging.judge_pycuda(tools, DRIVER), "warning")
    assert says in found.what
    assert found.remedy == "fourways install-pycuda"
    assert list(judging.judge_pycuda(tools, None)) == [], "without a driver PyCUDA has nothing to run on"


def test_pycuda_missing_matters_only_with_a_driver(tools: dict[str, Tool]) -> None:
    missing = spoil(tools, "PyCUDA", path=None)
    assert only(judging.judge_pycuda(missing, DRIVER), "warning").remedy == "fourways install-pycuda"
    assert list(judging.judge_pycuda(missing, None)) == []


def test_binding_missing_or_for_other_gpus(tools: dict[str, Tool], monkeypatch: pytest.MonkeyPatch) -> None:
    only(judging.judge_binding(spoil(tools, "fourways_aot", path=None), []), "warning")
    monkeypatch.setattr(inventory, "binding_architectures", lambda path: {"sm_75", "sm_80"})
    assert "sm_75, sm_80" in only(judging.judge_binding(tools, [H200]), "warning").what
    assert list(judging.judge_binding(tools, [])) == []


@pytest.mark.parametrize(
    ("holds", "arch", "runs"),
    [
        ({"sm_90"}, "sm_90", True),
        ({"sm_80"}, "sm_86", True),  # same major version, older minor
        ({"sm_86"}, "sm_80", False),
        ({"sm_80"}, "sm_90", False),
        ({"compute_80"}, "sm_90", True),  # PTX: compiled by the driver
        ({"compute_90"}, "sm_80", False),
        ({"sm_90a"}, "sm_90", True),
        ({"compute_90a"}, "sm_100", False),
        ({"sm_100f"}, "sm_103", True),
        ({"compute_100f"}, "sm_120", False),
        (set(), "sm_90", False),
    ],
)
def test_runs_on(holds: set[str], arch: str, runs: bool) -> None:
    assert judging.runs_on(holds, arch) is runs


def test_binding_architectures_are_read_from_the_module(tmp_path: Path) -> None:
    (tmp_path / "empty.cu").write_text("__global__ void empty() {}\n")
    targets = ["-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_90,code=compute_90"]
    subprocess.run(
        ["nvcc", *targets, "-shared", "-Xcompiler=-fPIC", "empty.cu", "-o", "empty.so"],
        cwd=tmp_path,
        env=os.environ | toolchain.environment(),
        check=True,
    )
    assert inventory.binding_architectures(tmp_path / "empty.so") == {"sm_75", "compute_90"}


@pytest.mark.parametrize(
    ("name", "variable"),
    [("CuPy", "CUPY_CACHE_DIR"), ("PyCUDA", "PYCUDA_CACHE_DIR"), ("Four Ways", "FOURWAYS_CACHE_DIR")],
)
def test_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, variable: str) -> None:
    monkeypatch.setattr(toolchain, "installed", lambda module: Path(module))
    monkeypatch.delenv("PYCUDA_DISABLE_CACHE", raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setenv(variable, str(tmp_path / "file" / "cache"))
    assert judging.caches()[name] == (variable, tmp_path / "file" / "cache")
    found = only(judging.judge_cache(name, *judging.caches()[name]), "error")
    assert found.remedy.startswith(f"export {variable}=")
    monkeypatch.setenv(variable, str(tmp_path / "deep" / "cache"))
    assert list(judging.judge_cache(name, *judging.caches()[name])) == []
    assert {path.name for path in tmp_path.iterdir()} == {"file"}, "the doctor leaves nothing behind"
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/root / ext4 rw 0 0\nserver:/home {tmp_path} nfs4 rw 0 0\n")
    monkeypatch.setattr(judging, "MOUNTS", mounts)
    assert "nfs4" in only(judging.judge_cache(name, *judging.caches()[name]), "warning").what


def test_cache_folders_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(toolchain, "installed", lambda module: None)
    for variable in ("CUPY_CACHE_DIR", "FOURWAYS_CACHE_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert {name: folder for name, (_, folder) in judging.caches().items()} == {
        "CuPy": tmp_path / "home" / ".cupy" / "kernel_cache",
        "Four Ways": tmp_path / "fourways",
    }


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no /proc here")
def test_a_folder_in_which_not_even_root_can_write() -> None:
    found = only(judging.judge_cache("CuPy", "CUPY_CACHE_DIR", Path("/proc/x")), "error")
    assert "/proc/x cannot be written, because of /proc (" in found.what


def test_a_folder_that_cannot_be_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else's home: the question whether it exists is already refused."""

    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", refuse)
    found = only(judging.judge_cache("CuPy", "CUPY_CACHE_DIR", tmp_path / "cache"), "error")
    assert found.what.endswith(f"because of {tmp_path / 'cache'} (Permission denied)")


def test_report_of_this_machine() -> None:
    report = doctor.report()
    assert report.lessons_can_run, [finding for finding in report.findings if finding.level == "error"]
    assert report.tools["nvcc"].version and report.tools["nvcc"].version.startswith("13.")
    plain = json.loads(report.to_json())
    assert plain["lessons_can_run"] is True
    assert plain["tools"]["nvcc"]["path"] == str(toolchain.nvcc())
    assert bool(plain["tools"]["driver"]["version"]) == bool(report.driver and report.driver.version)
    assert {finding["level"] for finding in plain["findings"]} <= set(doctor.STYLES)
    assert all(found.remedy for found in report.findings if found.level in ("warning", "error"))


def test_one_error_keeps_lessons_from_running() -> None:
    findings = [judging.Finding("warning", "w", "r"), judging.Finding("error", "e", "r")]
    assert not doctor.Report({}, None, [], findings).lessons_can_run
    assert doctor.Report({}, None, [], findings[:1]).lessons_can_run


def test_the_driver_is_shown_with_its_library(tmp_path: Path) -> None:
    """In a process of its own: the loader reads LD_LIBRARY_PATH at its start."""
    library = layouts.driver(tmp_path / devices.DRIVER_LIBRARY)
    script = "from fourways import doctor, toolchain; print(doctor.driver_tool(toolchain.driver()))"
    paths = {"LD_LIBRARY_PATH": str(tmp_path), "PYTHONPATH": str(Path(doctor.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", script], env=os.environ | paths, capture_output=True, text=True)
    assert f"PosixPath('{library}')" in done.stdout and "why='CUDA 13.0'" in done.stdout, done.stderr
    assert doctor.driver_tool(None) == Tool("driver")


def test_render_shows_tools_gpus_and_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    nvcc = Tool("nvcc", Path("/opt/[cuda]/nvcc"), "13.0.88", "from PATH", (Path("/usr/bin/nvcc"),))
    monkeypatch.setattr(inventory, "loaded_library", lambda name: Path(f"/usr/lib/lib{name}.so.1"))
    report = doctor.Report(
        {"nvcc": nvcc, "driver": doctor.driver_tool(DRIVER)},
        DRIVER,
        [H200],
        [judging.Finding("warning", "an old [thing]", "mend it")],
    )
    console = Console(file=io.StringIO(), width=120)
    console.print(doctor.render(report))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for word in (
        "/opt/[cuda]/nvcc",
        "from PATH",
        "/usr/bin/nvcc",
        "580.159.04",
        "/usr/lib/libcuda.so.1",
        "H200",
        "139 GiB",
        "[thing]",
        "mend it",
    ):
        assert word in text
