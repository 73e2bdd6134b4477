"""Which toolkit is taken on which machine; machines are folders (tests/layouts.py), the last tests use this one."""

import os
import shutil
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import layouts
import pytest

from fourways import devices, inventory, toolchain

ORIGINS = ("wheels", "conda", "CUDA_PATH", "CUDA_HOME", "system", "PATH")


class Machine:
    """A machine without any CUDA, under `home`; its methods put things on it."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.patch = home, monkeypatch
        self.folders = {
            "wheels": home / "site-packages" / "nvidia" / "cu13",
            "conda": home / "conda",
            "CUDA_PATH": home / "cuda-path",
            "CUDA_HOME": home / "cuda-home",
            "system": home / "usr" / "local" / "cuda",
            "PATH": home / "elsewhere",
        }
        for name in ("CONDA_PREFIX", "CUDA_PATH", "CUDA_HOME", "CXX", "NVCC", "NVCC_CCBIN", "LIBRARY_PATH", "CUDACXX"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PATH", f"{home / 'bin'}:/usr/bin:/bin")
        monkeypatch.setattr(sys, "path", [str(home / "site-packages")])
        monkeypatch.setattr(sys, "meta_path", [PathFinder])  # not what an editable install adds
        for name in ("cupy", "pycuda", "fourways_aot"):
            monkeypatch.delitem(sys.modules, name, raising=False)  # an earlier test may have imported it
        monkeypatch.setattr(toolchain, "SYSTEM_ROOT", self.folders["system"])
        monkeypatch.setattr(devices, "DRIVER_LIBRARY", str(home / "no-driver.so"))

    def has(
        self, origin: str, version: str = "13.0.88", parts: tuple[str, ...] = layouts.PARTS, below: str = ""
    ) -> Path:
        toolchain._roots.cache_clear()  # a machine does not change under a running process, but this one does
        root = layouts.toolkit(self.folders[origin], version, parts, below)
        if origin in ("conda", "CUDA_PATH", "CUDA_HOME"):
            self.patch.setenv("CONDA_PREFIX" if origin == "conda" else origin, str(root))
        if origin == "PATH":
            self.patch.setenv("PATH", f"{root / 'bin'}:{os.environ['PATH']}")
        return root


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


@pytest.mark.parametrize("best", range(len(ORIGINS)))
def test_preference(machine: Machine, best: int) -> None:
    """The best of the origins that are there wins, however many worse ones there are."""
    roots = [machine.has(origin) for origin in ORIGINS[best:]]
    assert toolchain.nvcc() == roots[0] / "bin" / "nvcc"
    assert toolchain.cuda_root() == roots[0]
    assert toolchain.include_dirs() == [roots[0] / "include", roots[0] / "include" / "cccl"]
    assert [root.folder for root in toolchain.roots()] == roots


def test_newest_wheels_first(machine: Machine) -> None:
    layouts.toolkit(machine.home / "site-packages" / "nvidia" / "cu12")
    newer = machine.has("wheels")
    assert toolchain.nvcc() == newer / "bin" / "nvcc"


def test_nothing_there(machine: Machine) -> None:
    assert toolchain.nvcc() is None
    assert toolchain.cuda_root() is None
    assert toolchain.include_dirs() == []
    assert toolchain.environment() == {}


@pytest.mark.parametrize("where", ["PATH", "CUDA_PATH"])
def test_wrapper_leads_to_its_toolkit(machine: Machine, where: str) -> None:
    """/usr/local/bin/nvcc can be a script: neither /usr/local nor the script is the toolkit."""
    real = layouts.toolkit(machine.home / "opt" / "cuda-13.0")
    layouts.script(machine.home / "bin" / "nvcc", f'exec {real / "bin" / "nvcc"} "$@"')
    if where == "CUDA_PATH":
        machine.patch.setenv("CUDA_PATH", str(machine.home))
        machine.patch.setenv("PATH", "/usr/bin:/bin")
    assert toolchain.cuda_root() == real
    assert toolchain.nvcc() == real / "bin" / "nvcc"
    assert toolchain.include_dirs()[0] == real / "include"


def test_link_to_an_nvcc_that_cannot_be_asked(machine: Machine) -> None:
    """nvcc --dryrun prints nothing where gcc is missing; the link still leads to the toolkit."""
    real = layouts.toolkit(machine.home / "opt" / "cuda-13.0")
    layouts.script(real / "bin" / "nvcc", "exit 1")
    (machine.home / "bin").mkdir()
    (machine.home / "bin" / "nvcc").symlink_to(real / "bin" / "nvcc")
    assert toolchain.cuda_root() == real


def test_a_toolkit_named_twice_counts_once(machine: Machine) -> None:
    root = machine.has("system")
    alias = machine.home / "alias"
    alias.symlink_to(root)
    machine.patch.setenv("CUDA_PATH", str(alias))
    machine.patch.setenv("PATH", f"{root / 'bin'}:/usr/bin:/bin")
    assert toolchain.roots() == (toolchain.Root(alias, "CUDA_PATH"),)


def test_conda_layout(machine: Machine) -> None:
    root = machine.has("conda", below=toolchain.TARGET)
    assert toolchain.nvcc() == root / "bin" / "nvcc"
    assert toolchain.include_dirs() == [
        root / toolchain.TARGET / "include",
        root / toolchain.TARGET / "include" / "cccl",
    ]
    assert "LIBRARY_PATH" not in toolchain.environment()


def test_partial_wheels(machine: Machine) -> None:
    """A GPU machine can have the runtime's and NVRTC's wheels and take nvcc and CCCL from the system's toolkit."""
    wheels, system = machine.has("wheels", parts=("headers",)), machine.has("system")
    assert toolchain.nvcc() == system / "bin" / "nvcc"
    assert toolchain.cuda_root() == system
    assert toolchain.include_dirs() == [wheels / "include", system / "include" / "cccl"]


def test_headers_that_cannot_be_compiled_are_passed_over(machine: Machine) -> None:
    """The runtime's wheel alone brings cuda_runtime.h, which includes crt/host_defines.h from another wheel."""
    wheels, system = machine.has("wheels", parts=("headers",)), machine.has("system")
    (wheels / "include" / "crt" / "host_defines.h").unlink()
    assert toolchain.include_dirs()[0] == system / "include"


def test_not_executable_is_not_a_program(machine: Machine) -> None:
    (machine.has("wheels") / "bin" / "nvcc").chmod(0o644)
    system = machine.has("system")
    assert toolchain.nvcc() == system / "bin" / "nvcc"


def test_program_from_path_where_no_toolkit_has_it(machine: Machine) -> None:
    root = machine.has("system")
    on_path = layouts.script(machine.home / "bin" / "nvdisasm", "")
    assert toolchain.program("nvdisasm") == on_path
    inside = layouts.script(root / "bin" / "nvdisasm", "")
    assert toolchain.program("nvdisasm") == inside


def test_activate_twice_is_activate_once(machine: Machine) -> None:
    root = machine.has("wheels")
    machine.has("PATH")
    machine.patch.setattr(os, "environ", dict(os.environ))
    before = os.environ["PATH"]
    toolchain.activate()
    once = dict(os.environ)
    toolchain.activate()
    assert os.environ == once
    assert once["PATH"] == f"{root / 'bin'}:{before}"
    assert once["CUDA_PATH"] == once["CUDA_HOME"] == str(root)
    assert once["CUDACXX"] == once["NVCC"] == shutil.which("nvcc") == str(root / "bin" / "nvcc")
    assert once["LIBRARY_PATH"] == str(root / "lib")


def test_cupy_cannot_take_a_path_with_blanks(machine: Machine) -> None:
    machine.patch.setenv("CUDA_PATH", str(layouts.toolkit(machine.home / "my cuda")))
    assert "NVCC" not in toolchain.environment()
    assert toolchain.environment()["CUDACXX"].endswith("/my cuda/bin/nvcc")


def test_host_compiler(machine: Machine) -> None:
    machine.has("system")
    machine.patch.setenv("PATH", str(machine.home / "bin"))
    assert toolchain.host_compiler() is None
    assert "install g++" in str(toolchain.missing("host"))
    clang = layouts.script(machine.home / "bin" / "clang++", "")
    assert toolchain.host_compiler() == clang
    assert toolchain.environment()["NVCC_CCBIN"] == str(clang), "no gcc here, so nvcc must be told"
    gxx = layouts.script(machine.home / "bin" / "g++", "")
    assert toolchain.host_compiler() == gxx
    layouts.script(machine.home / "bin" / "gcc", "")
    assert "NVCC_CCBIN" not in toolchain.environment()
    conda = layouts.script(machine.has("conda") / "bin" / "x86_64-conda-linux-gnu-c++", "")
    assert toolchain.host_compiler() == conda
    mine = layouts.script(machine.home / "mine" / "g++-14", "")
    machine.patch.setenv("CXX", f"ccache {mine} -m64")
    assert toolchain.host_compiler() == mine
    assert toolchain.environment()["NVCC_CCBIN"] == str(mine)


def test_no_driver(machine: Machine) -> None:
    assert toolchain.driver() is None
    assert toolchain.gpus() == []
    for way in ("gpu", "nvrtc", "nvcc", "pycuda", "pybind11"):
        assert toolchain.missing(way) == "no NVIDIA driver: this way runs on a machine with an NVIDIA GPU"
    assert toolchain.missing("host") is None


def test_driver_with_gpus(machine: Machine) -> None:
    machine.patch.setattr(devices, "DRIVER_LIBRARY", str(layouts.driver(machine.home / "libcuda.so.1")))
    proc = machine.home / "version"
    proc.write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC version: 12.2.0 \n"
    )
    machine.patch.setattr(devices, "DRIVER_FILE", proc)
    assert toolchain.driver() == toolchain.Driver("580.159.04", "13.0")
    assert toolchain.gpus() == [
        toolchain.Gpu("Fake A", "9.0", "sm_90", 80 << 30),
        toolchain.Gpu("Fake B", "12.0", "sm_120", 80 << 30),
    ]
    assert toolchain.missing("gpu") is None


def test_driver_that_gives_no_gpu(machine: Machine) -> None:
    machine.patch.setattr(devices, "DRIVER_LIBRARY", str(layouts.driver(machine.home / "none.so", init=100)))
    found = toolchain.driver()
    assert found and found.problem == "cuInit: CUDA_ERROR_NO_DEVICE"
    assert toolchain.gpus() == []
    assert "CUDA_ERROR_NO_DEVICE" in str(toolchain.missing("nvrtc"))


def test_driver_that_breaks_half_way(machine: Machine) -> None:
    machine.patch.setattr(devices, "DRIVER_LIBRARY", str(layouts.driver(machine.home / "half.so", attribute=999)))
    found = toolchain.driver()
    assert found and found.problem == "cuDeviceGetAttribute: CUDA_ERROR_UNKNOWN"
    assert toolchain.gpus() == []


@pytest.mark.parametrize("kind", ["stub", "empty"])
def test_a_stub_is_no_driver(machine: Machine, kind: str) -> None:
    """The toolkit's stub answers 34 (CUDA_ERROR_STUB_LIBRARY); one made for linking PyCUDA has no functions at all."""
    path = machine.home / f"{kind}.so"
    layouts.driver(path, init=34) if kind == "stub" else layouts.library(path, "")
    machine.patch.setattr(devices, "DRIVER_LIBRARY", str(path))
    assert toolchain.driver() is None
    assert toolchain.gpus() == []


@pytest.mark.parametrize(
    ("way", "lacking", "remedy"),
    [
        ("nvrtc", "cupy", "make setup"),
        ("pycuda", "pycuda", "fourways install-pycuda"),
        ("pybind11", "fourways_aot", "make setup"),
        ("pybind11", "cupy", "make setup"),
    ],
)
def test_missing_package_comes_with_its_remedy(machine: Machine, way: str, lacking: str, remedy: str) -> None:
    machine.has("system")
    machine.patch.setattr(devices, "DRIVER_LIBRARY", str(layouts.driver(machine.home / "libcuda.so.1")))
    for module in {"cupy", "pycuda", "fourways_aot"} - {lacking}:
        package = machine.home / "site-packages" / module / "__init__.py"
        package.parent.mkdir(parents=True)
        package.touch()
    said = str(toolchain.missing(way))
    assert said.endswith(remedy)
    assert "\n" not in said
    (machine.home / "site-packages" / f"{lacking}.py").touch()
    assert toolchain.missing(way) is None


def test_missing_nvcc(machine: Machine) -> None:
    machine.patch.setattr(toolchain, "installed", lambda module: Path(module))
    machine.patch.setattr(devices, "DRIVER_LIBRARY", str(layouts.driver(machine.home / "libcuda.so.1")))
    assert toolchain.missing("nvcc") == "no nvcc found: make setup"
    machine.has("system")
    assert toolchain.missing("nvcc") is None


def test_unknown_way() -> None:
    with pytest.raises(ValueError, match="no way 'cython'; there are: gpu, nvrtc"):
        toolchain.missing("cython")


def test_inventory_says_which_and_why(machine: Machine) -> None:
    wheels = machine.has("wheels", "13.0.88", parts=("headers", "cccl"))
    system = machine.has("system", "12.8.93")
    machine.patch.setattr(inventory, "loaded_library", lambda name: None)
    tools = inventory.tools()
    assert (tools["nvcc"].path, tools["nvcc"].version) == (system / "bin" / "nvcc", "12.8.93")
    headers = tools["CUDA headers"]
    assert (headers.path, headers.version) == (wheels / "include", "13.0")
    assert headers.why == f"from this environment's wheels, preferred to {system}"
    assert headers.passed_over == (system / "include",)
    assert tools["CCCL"].version == "3.0.1"
    assert tools["PyCUDA"].path is None
    assert tools["NVRTC"].path is None


def test_inventory_reads_the_libraries_themselves(machine: Machine) -> None:
    wheels = machine.has("wheels")
    code = "int {name}(int *major, int *minor) {{ *major = 13; *minor = {minor}; return 0; }}"
    nvrtc = layouts.library(wheels / "lib" / "libnvrtc.so.13", code.format(name="nvrtcVersion", minor=0))
    linker = layouts.library(wheels / "lib" / "libnvJitLink.so.13", code.format(name="nvJitLinkVersion", minor=5))
    other = machine.has("system") / "lib64" / "libnvrtc.so.13"
    other.parent.mkdir()
    other.touch()
    machine.patch.setattr(inventory, "loaded_library", {"nvrtc": nvrtc, "nvJitLink": linker}.get)
    tools = inventory.tools()
    assert (tools["NVRTC"].version, tools["nvJitLink"].version) == ("13.0", "13.5")
    assert tools["NVRTC"].passed_over == (other,)


# --- this machine -----------------------------------------------------------------------------------------------------


def test_cupy_takes_the_same_nvcc() -> None:
    script = "import cupy.cuda; print(cupy.cuda.get_nvcc_path())"
    done = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | toolchain.environment(), capture_output=True, text=True
    )
    assert done.stdout.strip() == str(toolchain.nvcc()), done.stderr


def test_nvcc_links_in_this_environment(tmp_path: Path) -> None:
    """The wheels' nvcc does not find its own cudart without LIBRARY_PATH."""
    (tmp_path / "empty.cu").write_text('__global__ void empty() {}\nextern "C" void go() { empty<<<1, 1>>>(); }\n')
    command = ["nvcc", "-arch=sm_90", "-shared", "-Xcompiler=-fPIC", "empty.cu", "-o", "empty.so"]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | toolchain.environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_asking_the_driver_in_this_process_never_raises() -> None:
    assert (toolchain.driver() is None) <= (toolchain.gpus() == [])
    assert all(gpu.arch == f"sm_{gpu.compute_capability.replace('.', '')}" for gpu in toolchain.gpus())
