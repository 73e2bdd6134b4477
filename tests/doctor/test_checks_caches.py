"""What the doctor says of the folders in which kernels are kept that were compiled."""

from pathlib import Path

import layouts
import pytest

from fourways import toolchain
from fourways.doctor.checks import Finding, judge
from fourways.doctor.inventory import Tool

JUDGED = [("CuPy", "CUPY_CACHE_DIR"), ("PyCUDA", "PYCUDA_CACHE_DIR"), ("Four Ways", "FOURWAYS_CACHE_DIR")]


@pytest.fixture(autouse=True)
def everything_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "installed", lambda module: Path(module))


def problems(tools: dict[str, Tool]) -> list[Finding]:
    return [found for found in judge(tools, None, []) if found.level in ("warning", "error")]


@pytest.mark.parametrize(("name", "variable"), JUDGED)
def test_a_cache_that_cannot_be_written(
    tools: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, variable: str
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(variable, str(tmp_path / "file" / "cache"))
    (found,) = problems(tools)
    assert found.what.startswith(f"{name}'s cache {tmp_path / 'file' / 'cache'} cannot be written, because of")
    assert found.remedy.startswith(f"export {variable}=/tmp/") and found.level == "error"


def test_a_cache_is_made_by_its_user(tools: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is not there yet is fine where it can be made; the doctor leaves nothing behind."""
    before = set(tmp_path.iterdir())
    for _, variable in JUDGED:
        monkeypatch.setenv(variable, str(tmp_path / "deep" / variable))
    assert problems(tools) == []
    assert set(tmp_path.iterdir()) == before


def test_caches_that_nobody_misses(tools: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver does without its cache; PyCUDA's may be switched off, or PyCUDA not be here."""
    (tmp_path / "file").touch()
    for variable in ("CUDA_CACHE_PATH", "PYCUDA_CACHE_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "file" / "cache"))
    assert [found.what.split("'")[0] for found in problems(tools)] == ["PyCUDA"]
    monkeypatch.setenv("PYCUDA_DISABLE_CACHE", "1")
    assert problems(tools) == []
    monkeypatch.delenv("PYCUDA_DISABLE_CACHE")
    monkeypatch.setattr(toolchain, "installed", lambda module: None if module == "pycuda" else Path(module))
    assert problems(tools) == []


@pytest.mark.parametrize(("system", "level"), [("nfs4", ["warning"] * 3), ("ext4", [])])
def test_a_cache_on_a_network_file_system(
    tools: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, level: list[str]
) -> None:
    layouts.script(tmp_path / "bin" / "df", f"echo Type; echo {system}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    found = problems(tools)
    assert [each.level for each in found] == level
    assert all("(nfs4): slow" in each.what for each in found)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no /proc here")
def test_a_folder_in_which_not_even_root_can_write(tools: dict[str, Tool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUPY_CACHE_DIR", "/proc/x")
    (found,) = problems(tools)
    assert "/proc/x cannot be written, because of /proc (" in found.what


def test_a_folder_that_cannot_be_looked_into(
    tools: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else's home: the question whether it exists is already refused."""
    cache, exists = tmp_path / "caches" / "CUPY_CACHE_DIR", Path.exists

    def refuse(path: Path, **options: bool) -> bool:
        if path == cache:
            raise PermissionError(13, "Permission denied", str(path))
        return exists(path, **options)

    monkeypatch.setattr(Path, "exists", refuse)
    (found,) = problems(tools)
    assert found.what.endswith(f"because of {cache} (Permission denied)")
