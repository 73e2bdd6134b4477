"""The CMake build: what it chooses and says, how it answers misuse, and that the presets build what they promise."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from fourways import toolchain

BIN = Path(sysconfig.get_path("scripts"))
CMAKE = shutil.which("cmake", path=f"{BIN}{os.pathsep}{os.environ['PATH']}") or pytest.skip(
    "no cmake here", allow_module_level=True
)
# Variables that would decide in the place of what a test puts there.
DECIDING = {"CUDACXX", "CUDA_PATH", "CUDA_HOME", "CUDAARCHS", "CUDAHOSTCXX", "VIRTUAL_ENV", "CONDA_PREFIX"}
DECIDING |= {"PYTHONPATH"}


def cmake(*arguments: object, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in DECIDING}
    return subprocess.run(
        [CMAKE, *map(str, arguments)],
        cwd=folder,
        env=clean | variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def words(text: str) -> str:
    """In one line: CMake breaks its messages as it likes."""
    return " ".join(text.split())


@pytest.fixture
def clone(root: Path, tmp_path: Path) -> Path:
    """What CMake reads of the clone, in a folder of its own: after `make setup`, with a ninja in .venv alone."""
    shutil.copytree(root / "cpp", tmp_path / "cpp")
    shutil.copy(root / "pyproject.toml", tmp_path)
    if ninja := shutil.which("ninja", path=f"{BIN}{os.pathsep}{os.environ['PATH']}"):
        (tmp_path / ".venv" / "bin").mkdir(parents=True)
        (tmp_path / ".venv" / "bin" / "ninja").symlink_to(ninja)
    return tmp_path


def executable(path: Path, text: str = "#!/bin/sh\nexit 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def bare_python(folder: Path) -> Path:
    """An environment without any package."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"


# --- choices, one file of cpp/cmake at a time -------------------------------------------------------------------------


class Choose:
    """Runs cpp/cmake/choose_<what>.cmake alone. Returns all that it prints, and last the variable `show`."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder

    def __call__(self, what: str, show: str, *definitions: str, **variables: str) -> str:
        script = self.folder / "choose.cmake"
        script.write_text(f'include("{self.root}/cpp/cmake/choose_{what}.cmake")\nmessage("{show}=${{{show}}}")\n')
        return cmake(*definitions, "-P", script, folder=self.root / "cpp", **variables).stdout


@pytest.fixture
def choose(root: Path, tmp_path: Path) -> Choose:
    return Choose(root, tmp_path)


def test_nvcc_comes_from_the_first_place_that_has_one(choose: Choose, tmp_path: Path) -> None:
    """All places have an nvcc. The one that was taken is removed, and the next is due, until none is left."""
    python = bare_python(tmp_path / "venv")
    site = Path(
        subprocess.check_output(
            [python, "-c", "import sysconfig as s; print(s.get_path('purelib'))"], text=True
        ).strip()
    )
    places = {
        "named by -DCMAKE_CUDA_COMPILER or CUDACXX": tmp_path / "named" / "nvcc",
        "of the Python environment": site / "nvidia" / "cu13" / "bin" / "nvcc",
        " of the Python environment": tmp_path / "venv" / "bin" / "nvcc",  # conda's place
        "from CUDA_PATH": tmp_path / "path" / "bin" / "nvcc",
        "from CUDA_HOME": tmp_path / "home" / "bin" / "nvcc",
        "the system's": tmp_path / "system" / "bin" / "nvcc",
        "from PATH": tmp_path / "on_path" / "nvcc",
    }
    for place in places.values():
        executable(place)
    variables = {
        "CUDACXX": str(places["named by -DCMAKE_CUDA_COMPILER or CUDACXX"]),
        "CUDA_PATH": str(tmp_path / "path"),
        "CUDA_HOME": str(tmp_path / "home"),
        "PATH": f"{tmp_path / 'on_path'}:/usr/bin:/bin",
    }
    definitions = (f"-DPython_EXECUTABLE={python}", f"-DFOURWAYS_SYSTEM_CUDA={tmp_path / 'system'}")
    for reason, place in places.items():
        printed = choose("nvcc", "CMAKE_CUDA_COMPILER", *definitions, **variables)
        assert f"-- nvcc: {place} ({reason.strip()})" in printed
        assert f"CMAKE_CUDA_COMPILER={place}\n" in printed
        place.unlink()
        variables.pop("CUDACXX", None)
    printed = words(choose("nvcc", "CMAKE_CUDA_COMPILER", *definitions, **variables))
    assert f"{python} -m pip install 'cuda-toolkit[nvcc,cccl,cudart]==13.0.*'" in printed
    assert f"CUDA_PATH is {tmp_path / 'path'}, where there is no bin/nvcc: passed over" in printed


@pytest.mark.parametrize(
    ("capabilities", "asked", "built_for", "reason"),
    [
        ("", "", "sm_75 compute_75 sm_90", "no GPU here; runs on all from 75 on"),
        ("9.0 9.0", "", "sm_90", "this machine's GPUs"),
        ("9.0", "CUDAARCHS=80-virtual", "compute_80", "as asked"),
        ("9.0", "-DCMAKE_CUDA_ARCHITECTURES=75-real;90a", "sm_75 sm_90a compute_90a", "as asked"),
        ("", "-DCMAKE_CUDA_ARCHITECTURES=all-major", "all-major", "as asked"),
    ],
)
def test_architectures(choose: Choose, capabilities: str, asked: str, built_for: str, reason: str) -> None:
    says = f"printf '%s\\n' {capabilities}" if capabilities else "echo 'NVIDIA-SMI has failed: error 9.9'; exit 9"
    nvidia_smi = executable(choose.folder / "bin" / "nvidia-smi", f"#!/bin/sh\n{says}\n")
    variables = {"PATH": f"{nvidia_smi.parent}:{os.environ['PATH']}"}
    if asked.startswith("CUDAARCHS"):
        variables["CUDAARCHS"] = asked.partition("=")[2]
    definitions = [asked] if asked.startswith("-D") else []
    printed = choose("architectures", "FOURWAYS_BUILT_FOR", *definitions, **variables)
    assert f"FOURWAYS_BUILT_FOR={built_for}\n" in printed and f"({reason})" in printed


def test_kernels(root: Path, choose: Choose) -> None:
    every = sorted(path.stem for path in (root / "cpp" / "aot").glob("*.cu"))
    bindings = " ".join(f"X({name})" for name in every)
    for definitions in ([], ["-DFOURWAYS_KERNELS=all"], ["-DFOURWAYS_KERNELS="]):
        assert f"FOURWAYS_BINDINGS={bindings}\n" in choose("kernels", "FOURWAYS_BINDINGS", *definitions)
    one = choose("kernels", "FOURWAYS_SOURCES", "-DFOURWAYS_KERNELS=doublify;doublify")
    assert "FOURWAYS_SOURCES=aot/doublify.cu;aot/doublify.cpp\n" in one
    wrong = words(choose("kernels", "FOURWAYS_SOURCES", "-DFOURWAYS_KERNELS=doubly"))
    there = f"but there is no cpp/aot/doubly.cu. Take one or more of: {', '.join(every)}"
    assert f"FOURWAYS_KERNELS names doubly, {there}" in wrong


def test_a_kernel_without_its_binding_is_refused(clone: Path) -> None:
    (clone / "cpp" / "aot" / "saxpy.cpp").unlink()
    wrong = words(Choose(clone, clone)("kernels", "FOURWAYS_SOURCES"))
    assert "There is cpp/aot/saxpy.cu, but beside it no cpp/aot/saxpy.cpp, where bind_saxpy(py::module_ &m)" in wrong


# --- misuse, answered with the right command --------------------------------------------------------------------------


def test_a_build_among_the_sources_is_refused(clone: Path) -> None:
    ran = cmake(".", folder=clone / "cpp")
    assert ran.returncode != 0
    assert "rm -r CMakeCache.txt CMakeFiles cmake --preset release && cmake --build --preset release" in words(
        ran.stdout
    )


def test_a_python_without_pybind11_or_headers_or_too_old_is_refused(clone: Path) -> None:
    bare = bare_python(clone / "bare")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    old = executable(clone / "old" / "python3", "#!/bin/sh\nexit 1\n")
    for definitions, remedy in [
        ([f"-DPython_EXECUTABLE={bare}"], f"{bare} -m pip install 'pybind11>=3.1,<4'"),
        (
            [f"-DPython_EXECUTABLE={sys.executable}", "-DPython_INCLUDE_DIR=/nowhere"],
            f"apt install python{version}-dev",
        ),
        ([f"-DPython_EXECUTABLE={old}"], "cmake --preset release -DPython_EXECUTABLE=/path/to/python3"),
    ]:
        ran = cmake("-S", "cpp", "-B", "build", "--fresh", *definitions, folder=clone)
        assert ran.returncode != 0
        assert remedy in words(ran.stdout)


# --- the presets ------------------------------------------------------------------------------------------------------

need_nvcc = pytest.mark.skipif(toolchain.nvcc() is None, reason=str(toolchain.missing("nvcc")))


def build(clone: Path, preset: str, *definitions: str) -> Path:
    """Configures in cpp/ and builds, as the README says. Returns the module."""
    ran = cmake("--preset", preset, f"-DPython_EXECUTABLE={sys.executable}", *definitions, folder=clone / "cpp")
    assert ran.returncode == 0, ran.stdout
    ran = cmake("--build", "--preset", preset, folder=clone / "cpp")
    assert ran.returncode == 0, ran.stdout
    assert "warning" not in ran.stdout
    [module] = (clone / "build" / preset).glob("fourways_aot*.so")
    return module


def inside(module: Path, *options: str) -> str:
    tool = toolchain.program("cuobjdump")
    if not tool:
        pytest.skip("no cuobjdump here")
    return subprocess.check_output([tool, *options, module], text=True)


@pytest.mark.long
@need_nvcc
def test_all_architectures_are_in_and_the_module_runs_from_where_it_lies(clone: Path) -> None:
    one = "-DFOURWAYS_KERNELS=doublify"  # is enough, and much quicker
    module = build(clone, "all-architectures", one, "-DCMAKE_CUDA_FLAGS=-DFACTOR=3")
    assert re.search(r"FMUL \w+, \w+, 3 ", inside(module, "-sass")), "a macro reaches the kernel"
    elf, ptx = inside(module, "--list-elf"), inside(module, "--list-ptx")
    assert set(re.findall(r"sm_\d+", elf)) == {f"sm_{n}" for n in (75, 80, 86, 89, 90, 100, 120)}
    assert set(re.findall(r"sm_\d+", ptx)) == {"sm_120"}
    here_first = (
        "import sys, importlib.machinery as m; sys.meta_path.insert(0, m.PathFinder)\n"  # before an installed one
    )
    asks = here_first + "import fourways_aot as f; print(*f.built_for, f.__version__); f.doublify([1], [2])"
    ran = subprocess.run([sys.executable, "-c", asks], cwd=module.parent, capture_output=True, text=True)
    assert ran.stdout.startswith("sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120 compute_120 ")
    assert "TypeError: doublify: x is a list" in ran.stderr


@need_nvcc
def test_a_build_folder_keeps_to_its_nvcc(clone: Path, tmp_path: Path) -> None:
    arguments = ("-S", "cpp", "-B", "build", f"-DPython_EXECUTABLE={sys.executable}")
    assert cmake(*arguments, folder=clone).returncode == 0
    other = executable(tmp_path / "other" / "nvcc")
    ran = cmake(*arguments, folder=clone, CUDACXX=str(other))
    assert ran.returncode != 0
    assert f"not to {other}. Start afresh: cmake --fresh --preset release" in words(ran.stdout)
