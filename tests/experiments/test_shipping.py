"""Lesson 13's codes, nvccs, wheel and libraries, as far as they need no GPU."""

import pytest

from fourways import toolchain
from fourways.experiments import shipping


def test_codes_are_for_what_their_names_say() -> None:
    assert shipping.code("sm_90")[:4] == b"\x7fELF"
    assert b".target sm_75" in shipping.code("compute_75")
    assert b".version 99.0\n.target sm_75" in shipping.code(shipping.NEWER)


def test_native_is_another_architecture_without_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    shipping.by_nvcc("native")
    shipping.by_nvcc("sm_1")
    native, warning, built, failed, *_ = capsys.readouterr().out.splitlines()
    assert (native, built) == ("nvcc -arch=native: exit code 0", "it built sm_75")
    assert "-arch=native" in warning and failed == "nvcc -arch=sm_1: exit code 1"


def test_tools_take_different_compilers_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDACXX", "/another/nvcc")
    chosen = {row["tool"]: (row["three"], row["named"]) for row in shipping.which_nvcc().rows}
    assert chosen["CuPy"] == ("wheel", "named")
    assert chosen["CMake"] == ("PATH", "named")
    assert chosen.get("PyCUDA", ("PATH", "named")) == ("PATH", "named")


def test_pip_takes_a_wheel_that_fits_and_else_the_sdist() -> None:
    linux, windows = "heat-1-cp313-cp313-manylinux_2_28_x86_64.whl", "heat-1-cp312-abi3-win_amd64.whl"
    offered = {"both": [linux, windows, "heat-1.tar.gz"], "a wheel": [linux], "any": ["heat-1-py3-none-any.whl"]}
    rows = shipping.which_file(offered, [(3, 13)]).rows
    assert [row["both"] for row in rows] == [linux, "sdist: compiles", windows]
    assert [row["a wheel"] for row in rows] == [linux, "an error", "an error"]
    assert {row["any"] for row in rows} == {"heat-1-py3-none-any.whl"}


@pytest.mark.skipif(not toolchain.host_compiler(), reason="no C++ compiler")
def test_the_loader_finds_a_library_by_its_rpath() -> None:
    places = [(row["here"], row["moved"]) for row in shipping.find_runtime().rows]
    none = "not found"
    assert places == [("inside", "inside"), (none, none), ("found", none), ("found", "found")]
