"""pyproject.toml is the one list of dependencies: environment.yml and requirements.lock agree with it."""

import ast
import importlib.metadata
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from fourways.install import PYCUDA, PYCUDA_SHA256, read_locks

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
    lists = [project["dependencies"], *(of for name, of in project["optional-dependencies"].items() if name != "more")]
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
    full_version = f"{python}.0" if python != "3.11" else "3.11.2"  # 3.11.2 is Debian 12's
    machine = {**default_environment(), "python_full_version": full_version, "python_version": python}
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


def test_one_pycuda_everywhere(pyproject: dict[str, Any], lock: str) -> None:
    """The version is pyproject's; install pins it with its hash; the lock holds what it needs, not itself."""
    assert pyproject["project"]["optional-dependencies"]["pycuda"][0] == f"pycuda=={PYCUDA}"
    assert re.fullmatch(r"[0-9a-f]{64}", PYCUDA_SHA256)
    entries = read_locks()
    assert "pycuda" not in entries
    wanted = {name for name, texts in entries.items() if re.search(r"^ +#.* pycuda$", "".join(texts), re.MULTILINE)}
    assert wanted == {"mako", "pytools"} and "platformdirs" in entries  # what its metadata asks for
