"""The catalogue of kernels, and what every kernel promises."""

import re
import shutil
from pathlib import Path

import pytest

from fourways import kernels


def parameters(text: str) -> dict[str, str]:
    """The parameters of each kernel as they are written."""
    return {kernel.name: kernel.written for kernel in kernels.declared(kernels.without_directives(text))[0].values()}


def test_catalogue() -> None:
    assert "doublify" in kernels.names()
    assert list(parameters(kernels.source("doublify"))) == ["doublify"]
    with pytest.raises(ValueError, match="no kernel 'nothing'.*doublify"):
        kernels.path("nothing")


@pytest.mark.parametrize(
    ("name", "is_file"), [("my.cu", True), ("a/b.cuh", True), ("1", False), ("saxpy", False), ("x.cubin", False)]
)
def test_a_file_is_known_by_its_ending(name: str, is_file: bool) -> None:
    assert kernels.is_file(name) == is_file


@pytest.mark.parametrize("name", kernels.names())
def test_every_kernel_keeps_the_rules(name: str) -> None:
    text = kernels.source(name)
    assert text.startswith(f"// {name}: "), "the header comment says what it computes"
    assert 'extern "C"' in text
    assert not re.search(r"#include\s*<(cub/cub\.cuh|iostream|cstdio|vector)>", text), "only headers that NVRTC takes"
    for macro in re.findall(r"^#define (\w+)", text, re.MULTILINE):
        assert f"#ifndef {macro}" in text, f"{macro} has a default that -D can change"


def test_root_is_found_from_inside_a_clone_or_named(tmp_path: Path, root: Path, monkeypatch) -> None:
    assert kernels.root() == root
    shutil.copytree(root / "cpp" / "kernels", tmp_path / "cpp" / "kernels")
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    assert kernels.root() == tmp_path.resolve()
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path / "cpp"))
    with pytest.raises(FileNotFoundError, match="no clone of Four Ways"):
        kernels.root()
