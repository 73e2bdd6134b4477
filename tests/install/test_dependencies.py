"""pyproject.toml is the one list of dependencies: environment.yml and requirements.lock agree with it."""

import ast
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from fourways import toolchain
from fourways.install import PYCUDA, PYCUDA_SHA256, read_lock, read_locks

ROOT = Path(__file__).parents[2]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")

FROM_CONDA = {"python", "pip", "git", "make", "gxx_linux-64"}
"""What conda itself brings: certain to be on conda-forge, and what the other route expects on the machine."""


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def requirements(pyproject: dict[str, Any]) -> list[Requirement]:
    """All direct dependencies: those of the package and of every extra but `more`, which is for machines with a GPU."""
    project = pyproject["project"]
    lists = [
        project["dependencies"],
        *(of for extra, of in project["optional-dependencies"].items() if extra != "more"),
    ]
    return [Requirement(entry) for entries in lists for entry in entries]


def conda_packages() -> tuple[dict[str, str], list[str]]:
    """What environment.yml asks of conda, by name with the version, and the lines for pip."""
    entries = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    [pip] = [entry["pip"] for entry in entries if isinstance(entry, dict)]
    named = [re.fullmatch(r"([\w.-]+?)([=<>!~].*)?", entry) for entry in entries if isinstance(entry, str)]
    return {found[1]: found[2] or "" for found in named if found}, pip


def test_environment_yml_asks_for_the_same(pyproject: dict[str, Any]) -> None:
    """Of conda a machine to build on, of pip what the lock holds, by which both routes get the same packages."""
    conda, pip = conda_packages()
    assert conda.keys() == FROM_CONDA
    assert SpecifierSet(conda["python"]) == SpecifierSet(pyproject["project"]["requires-python"])
    assert pip == ["-r requirements.lock", "-r requirements-test.lock"]


@pytest.mark.long
def test_the_conda_route_installs_and_builds(tmp_path: Path) -> None:
    """As conda does it: the lines for pip in a file beside environment.yml; a compiler known by its long name only.

    conda/env/installers/pip.py writes that file and runs `pip install -U -r`; mamba does likewise. One architecture and
    one kernel stand for all.
    """
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        pytest.skip("uv is not here (`make setup` brings it)")
    for name in (
        "requirements.lock",
        "requirements-test.lock",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "LICENSE-TEXT",
    ):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("cpp", "scripts"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "condaenv.requirements.txt").write_text("\n".join(conda_packages()[1]))
    prefix = tmp_path / "prefix"
    compiler = prefix / "bin" / "x86_64-conda-linux-gnu-c++"
    variables = {name: value for name, value in os.environ.items() if not re.search("CUDA|PYTHON|VIRTUAL|NVCC", name)}
    variables |= {
        "CONDA_PREFIX": str(prefix),
        "PATH": f"{prefix / 'bin'}:{tmp_path / 'path'}",
        "CXX": compiler.name,
        "UV_SYSTEM_CERTS": "1",
    }

    def run(*command: object) -> str:
        done = subprocess.run(list(map(str, command)), cwd=tmp_path, env=variables, capture_output=True, text=True)
        if re.search("dns error|error sending request", done.stderr):
            pytest.skip("no package index can be reached")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(uv, "venv", "--quiet", "--python", sys.executable, prefix)
    compiler.symlink_to(toolchain.host_compiler() or pytest.skip("no g++ to stand in for conda's"))
    (tmp_path / "path").mkdir()
    for tool in ("sh", "env", "as", "ld", "ar", "cc1plus", "dirname", "cat"):  # neither gcc, g++ nor c++
        if found := shutil.which(tool):
            (tmp_path / "path" / tool).symlink_to(found)
    run(uv, "pip", "install", "--quiet", "--python", prefix, "--upgrade", "-r", "condaenv.requirements.txt")
    options = ["--no-deps", "--no-build-isolation", "-Ccmake.define.FOURWAYS_KERNELS=doublify"]
    options += ["-Ccmake.define.CMAKE_CUDA_ARCHITECTURES=90"]
    run(uv, "pip", "install", "--python", prefix, *options, "--editable", ".")
    run(prefix / "bin" / "python", "-c", "import cupy, cuda.core, fourways_aot; fourways_aot.doublify")


def test_environment_yml_uses_conda_forge_alone() -> None:
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["channels"] == ["conda-forge", "nodefaults"]
    assert "--no-deps --no-build-isolation" in text  # without them pip fetches what the lock's route has pinned


def test_environment_yml_says_where_each_package_comes_from(lock: str) -> None:
    """A reader looks for these names in it."""
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    [from_lock] = re.findall(r"^#   requirements.lock .*?(?=^#   \S)", text, re.MULTILINE | re.DOTALL)
    [built] = re.findall(r"^#   built from source +(\w+):", text, re.MULTILINE)
    named = set(re.findall(r"[\w-]+", from_lock)) & read_locks().keys()
    assert named >= {"cupy-cuda13x", "pybind11", "jupyter-book", "cmake", "matplotlib"} and built == "pycuda"


def test_build_requirements_agree(pyproject: dict[str, Any]) -> None:
    """What `pip install .` builds with is in the range that the package runs with."""
    declared = {each.name: each for each in reversed(requirements(pyproject))}  # the package's own, before the extras'
    for entry in pyproject["build-system"]["requires"]:
        needed = Requirement(entry)
        assert needed.specifier == declared[needed.name].specifier
        assert needed.extras <= declared[needed.name].extras


@pytest.fixture(scope="module")
def lock() -> str:
    """All three locks, which share no package but those of the extra `profile`."""
    return "".join(entry for entries in read_locks().values() for entry in entries)


def locked(lock: str, python: str) -> dict[str, str]:
    """The versions that the lock gives to CPython `python` on Linux x86-64."""
    machine = {
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "python_full_version": f"{python}.0" if python != "3.11" else "3.11.2",  # 3.11.2 is Debian 12's
        "python_version": python,
        "sys_platform": "linux",
    }
    versions: dict[str, str] = {}
    for line in re.findall(r"^\w.*?==.*?(?= \\$)", lock, flags=re.MULTILINE):
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(machine):
            assert requirement.name not in versions, f"{requirement.name} stands twice for Python {python}"
            versions[requirement.name] = str(requirement.specifier).removeprefix("==")
    return versions


@pytest.mark.parametrize("python", PYTHONS)
def test_lock_satisfies_pyproject(pyproject: dict[str, Any], lock: str, python: str) -> None:
    assert SpecifierSet(pyproject["project"]["requires-python"]).contains(f"{python}.2")
    versions = locked(lock, python)
    for requirement in requirements(pyproject):
        marker = requirement.marker
        if requirement.name != "pycuda" and (not marker or marker.evaluate({"python_version": python})):  # see below
            name = canonicalize_name(requirement.name)
            assert name in versions, f"{name} is not in requirements.lock: `make lock`"
            assert requirement.specifier.contains(versions[name]), (
                f"{requirement} against {versions[name]}: `make lock`"
            )


def test_lock_hashes_every_entry(lock: str) -> None:
    entries = [text for texts in read_locks().values() for text in texts]
    assert len(entries) > 100
    unhashed = [text.split()[0] for text in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", text)]
    assert unhashed == []
    assert set(re.findall(r"--[a-z-]+", lock)) == {"--hash"}, "an option in requirements.lock"


def test_a_learner_installs_no_tools_of_the_desk() -> None:
    """`make setup` takes the first lock, and with a GPU the second. Neither other holds what the first has."""
    all_of, gpu, tests = (
        read_lock((ROOT / name).read_text(encoding="utf-8")).keys()
        for name in ("requirements.lock", "requirements-gpu.lock", "requirements-test.lock")
    )
    assert all_of.isdisjoint(gpu | tests) and all_of >= {"uv", "cupy-cuda13x", "jupyter-book"}
    assert gpu >= {"ncu-report", "cupti-python", "nvidia-curand", "mako"}
    assert tests >= {"pytest", "mypy", "ruff", "selenium", "ncu-report"}


def test_what_is_imported_is_declared(pyproject: dict[str, Any]) -> None:
    """By name, and not only brought by another package."""
    names = importlib.metadata.packages_distributions()
    paths = [*(ROOT / "scripts").rglob("*.py"), *(ROOT / "book" / "_ext").glob("*.py"), *(ROOT / "tests").rglob("*.py")]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths if "_process" not in path.name]
    found = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {alias.name for node in found if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in found if isinstance(node, ast.ImportFrom)}
    used = {canonicalize_name(names[top][0]) for module in modules if (top := module.split(".")[0]) in names}
    declared = {canonicalize_name(each.name) for each in requirements(pyproject)} | {"fourways"}
    declared |= {
        canonicalize_name(Requirement(each).name) for each in pyproject["project"]["optional-dependencies"]["more"]
    }
    assert used - declared == set()


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "environment.yml", *sorted(path.name for path in ROOT.glob("*.lock"))]
)
def test_no_package_host_is_named(name: str) -> None:
    """So that a mirror serves as well."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.findall(r"\S*://\S*|\S*(?:pypi|pythonhosted|anaconda)\.\w+\S*|--(?:extra-)?index-url\S*", text) == []


def test_one_pycuda_everywhere(pyproject: dict[str, Any], lock: str) -> None:
    """The version is pyproject's; install pins it with its hash; the lock holds what it needs, not itself."""
    assert pyproject["project"]["optional-dependencies"]["pycuda"][0] == f"pycuda=={PYCUDA}"
    assert re.fullmatch(r"[0-9a-f]{64}", PYCUDA_SHA256)
    entries = read_locks()
    assert "pycuda" not in entries
    wanted = {name for name, texts in entries.items() if re.search(r"^ +#.* pycuda$", "".join(texts), re.MULTILINE)}
    assert wanted == {"mako", "pytools"} and "platformdirs" in entries  # what its metadata asks for


RECORDED = sorted((ROOT / "book" / "recorded").glob("*.ipynb"))


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_the_book_is_recorded_with_what_the_lock_installs(lock: str, file: Path) -> None:
    """CuPy, PyCUDA, and the compilers and linkers that make machine code: readers see the sizes and words of theirs."""
    stamp = json.loads(file.read_text(encoding="utf-8"))["metadata"]["fourways"]["stamp"]
    versions = locked(lock, ".".join(stamp["python"].split(".")[:2])) | {"pycuda": PYCUDA}
    recorded = {"nvidia-cuda-nvcc": stamp["nvcc"]} | stamp["packages"]
    judged = {name for name in recorded if re.match("cupy|pycuda|nvidia-", name)}
    on_gpu = {"pycuda"} if stamp["device"] else set()  # `choose` runs no kernel
    assert judged >= on_gpu | {"cupy-cuda13x", "nvidia-cuda-nvcc", "nvidia-cuda-nvrtc", "nvidia-nvjitlink"}
    assert {name: recorded[name] for name in judged} == {name: versions[name] for name in judged}
