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


def test_parameters_with_launch_bounds_and_templates() -> None:
    text = 'extern "C" __global__ void __launch_bounds__(256) a(int) {}\ntemplate <class T> __global__ void b(T *x) {}'
    assert parameters(text) == {"a": "int", "b": "T *x"}
    assert parameters("__global__ __launch_bounds__(64) void c(\n    int n, // many\n    int m) {}") == {
        "c": "int n, int m"
    }
    bounded = "__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(T * (1 + 0)) mine(int *x) {}"
    assert parameters(bounded) == {"mine": "int *x"}
    assert parameters("// __global__ void old()\n/* __global__ void older() */") == {}


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


def test_a_signature_is_read_from_the_compilers_name() -> None:
    argument = "fourways_signature::argument_"
    types = f"{argument}<int const*, 8ul, 8ull, 0, 4>,{argument}<a::__4::B, 8, 4, 2, 0>"
    told = f"void show<3, fourways_signature::told_<{types}>>()"
    found = kernels.signature("mine", told, "const int *x, B b = B()")
    assert str(found) == "mine(const int *x, a::B b)"
    x, b = found.parameters
    assert (x.kind, x.dtype, x.size, x.alignment, x.element_size, x.is_pointer) == ("input", "int32", 8, 8, 4, True)
    assert (b.kind, b.size, b.alignment, b.is_pointer) == ("struct", 8, 4, False)
    assert kernels.signature("none", "fourways_signature::told_<>", "void").parameters == ()
    with pytest.raises(ValueError, match="the compiler's name of a signature was not understood: _Z4show"):
        kernels.signature("mine", "_Z4show", "int n")
