"""Lesson 13's codes, nvccs, wheel and libraries, as far as they need no GPU, and the judges of its exercises."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fourways import building, kernels, toolchain
from fourways.experiments import shipping
from fourways.experiments.shipping import codes

FAKE_CUPY = """
class RawModule:
    num_regs = 64
    def __init__(self, path):
        content = open(path, "rb").read()
        if b".version 99" in content or b"refused" in content:
            raise cuda.driver.CUDADriverError("CUDA_ERROR_OF_A_KIND: in words")
    def get_function(self, name):
        assert name == "stencil"
        return self
class cuda:
    class driver:
        class CUDADriverError(RuntimeError):
            pass
"""


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for CuPy and an H200, in this process and in a fresh one."""
    (tmp_path / "cupy.py").write_text(FAKE_CUPY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "cupy", None)  # so that the stand-in is forgotten afterwards
    del sys.modules["cupy"]
    monkeypatch.setattr(toolchain, "gpus", lambda: [toolchain.Gpu("H200", "9.0", "sm_90", 1)])


def test_codes_are_for_what_their_names_say() -> None:
    assert shipping.code("sm_90")[:4] == b"\x7fELF"
    assert b".target sm_75" in shipping.code("compute_75")
    assert b".version 99.0\n.target sm_75" in shipping.code(shipping.NEWER)


def test_what_the_driver_says(gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shipping.code
    monkeypatch.setattr(codes, "code", lambda name: b"refused" if name == "sm_80" else real(name))
    table = shipping.attempt(["sm_80", "sm_90", shipping.NEWER])
    assert table.cells() == [
        ["sm_80", "no", "CUDA_ERROR_OF_A_KIND"],
        ["sm_90", "yes", "loaded"],
        [shipping.NEWER, "", "CUDA_ERROR_OF_A_KIND"],
    ]


def test_loads_are_timed_in_two_processes(gpu: None) -> None:
    table = shipping.first_loads(rounds=2)
    assert [row["load"] for row in table.rows][::3] == ["machine code", "PTX, in another process"]
    assert all(row["seconds"]["samples"] == 2 for row in table.rows)


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


def test_a_wheel_of_a_fatbin() -> None:
    project = shipping.Project()
    project.write(
        "pyproject.toml",
        """
[build-system]
requires = ["scikit-build-core>=1.1"]
build-backend = "scikit_build_core.build"
[project]
name = "warm"
version = "0.1"
[tool.scikit-build]
wheel.cmake = false
wheel.packages = ["warm"]
""",
    )
    project.write("warm/__init__.py", "")
    project.write("warm/stencil.fatbin", building.build(kernels.path("stencil"), "nvcc", ["75"], "fatbin").code)
    sizes = {row["file"]: row["bytes"] for row in project.wheel().rows}
    assert sizes["warm-0.1-py3-none-any.whl"] > 1000
    assert (project.site / "warm" / "stencil.fatbin").stat().st_size == sizes["warm/stencil.fatbin"]


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


Pick = Callable[[Sequence[str], str], Any]


def starting(held: Sequence[str], gpu: str) -> list[str]:
    return [name for name in held if toolchain.runs_on([name], gpu)]


def best(held: Sequence[str], gpu: str) -> str | None:
    return max(
        starting(held, gpu), key=lambda name: (name[0] == "s", int("".join(filter(str.isdigit, name)))), default=None
    )


def without_endings(held: Sequence[str], gpu: str) -> str | None:
    """Take `sm_90a` for `sm_90`."""
    plain = {name.rstrip("af"): name for name in held}
    return plain.get(str(best(list(plain), gpu)))


def without_minor_versions(held: Sequence[str], gpu: str) -> str | None:
    """Take machine code for the GPU's major version, of whichever minor version."""
    same = [name for name in held if name[:-1] == gpu[:-1] and name.startswith("sm_")]
    return max(same, default=best(held, gpu))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda held, gpu: None, "does start"),
        (lambda held, gpu: gpu, "does not hold"),
        (lambda held, gpu: next(iter(starting(held, gpu)[::-1]), None), "Newer code|must be compiled"),
        (lambda held, gpu: max(starting(held, gpu), default=None), "Newer code"),
        (lambda held, gpu: min(starting(held, gpu), default=None), "must be compiled"),
        (without_endings, "on no other"),
        (without_minor_versions, "newer GPUs"),
        (lambda held, gpu: next(iter(held)), "never crosses"),
        (lambda held, gpu: "compute_75" if "compute_75" in held else best(held, gpu), "must be compiled"),
    ],
)
def test_wrong_picks(answer: Pick, told: str) -> None:
    for _ in range(5):
        said = shipping.check_pick(answer)
        assert said.startswith("Not yet: ")
    assert any(part in said for part in told.split("|")), said


def test_right_picks() -> None:
    for _ in range(5):
        assert shipping.check_pick(best).startswith("Right for ")


ROOT = "$ORIGIN" + 40 * "/.."
SITE = "venv/lib/python3.12/site-packages/nvidia/cu13/lib"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda module: None, "is not a str"),
        (lambda module: "", "is not a str"),
        (lambda module: "$ORIGIN/nowhere/../" + "../" * module.count("/") + "nvidia/cu13/lib", "need not exist"),
        (lambda module: ":".join(f"$ORIGIN/{'../' * up}nvidia/cu13/lib" for up in range(7)), "one is enough"),
        (lambda module: "/usr/local/cuda/lib64:/usr/lib", "one machine's folder"),
        (lambda module: "/home/ada/venv/lib/python3.12/site-packages/nvidia/cu13/lib", "one machine's folder"),
        (lambda module: "../nvidia/cu13/lib", "current folder"),
        (lambda module: f"{ROOT}/home/ada/{SITE}:{ROOT}/opt/python/site-packages/nvidia/cu13/lib", "would look in"),
        (lambda module: "$ORIGIN/../nvidia/cu13/lib", "site-packages/heat/nvidia"),
        (lambda module: "$ORIGIN/" + "../" * (module.count("/") + 1) + "nvidia/cu13/lib", "would look in"),
    ],
)
def test_wrong_rpaths(answer: Callable[[str], Any], told: str) -> None:
    said = shipping.check_rpath(answer)
    assert said.startswith("Not yet: ") and told in said, said


@pytest.mark.parametrize("origin", ["$ORIGIN", "${ORIGIN}", "/opt/cuda/lib64:$ORIGIN/."])
def test_right_rpaths(origin: str) -> None:
    said = shipping.check_rpath(lambda module: "/".join([origin, *[".."] * module.count("/"), "nvidia/cu13/lib"]))
    assert said == "Right for 23 modules."
