"""Units that are compiled already: which builds take them, and what the linkers say."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fourways import building, link_builds, tables, toolchain

LIBRARY = """extern "C" __device__ float f(float x);
extern "C" __global__ void k(const float* x, float* y, long long n) { y[threadIdx.x] = f(x[threadIdx.x]); }
"""
DEFINES = 'extern "C" __device__ float f(float x) { return x + 1; }\n'
ONE_SOURCE, PTX, LTO, RDC, DLTO = link_builds.BUILDS


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "gpus", list)


@pytest.fixture(scope="module")
def library(made_once: Callable[..., Path]) -> Path:
    """A folder with the library compiled: lib.ltoir, lib.ptx, lib.cubin, lib.fatbin, lib.o (LTO-IR inside), lib.a."""
    return made_once("library", compile_library)


def compile_library(folder: Path) -> None:
    """Compile the library to each kind of file that a linker may take."""
    source = folder / "lib.cu"
    source.write_text(LIBRARY)
    for output in ("ltoir", "ptx", "cubin"):
        (folder / f"lib.{output}").write_bytes(building.build(source, "nvrtc", "sm_90", output, ["-rdc=true"]).code)
    (folder / "lib.fatbin").write_bytes(building.build(source, "nvcc", "sm_90", "fatbin", ["-rdc=true"]).code)
    nvcc = str(toolchain.nvcc())
    for command in (
        [nvcc, "-dlto", "-arch=sm_90", "-dc", str(source), "-o", str(folder / "lib.o")],
        [str(shutil.which("ar")), "rcs", str(folder / "lib.a"), str(folder / "lib.o")],
    ):
        done = toolchain.run(*command)
        assert done.returncode == 0, done.stderr


def outcomes(rows: list[tables.Row]) -> dict[str, str]:
    """By build: "unfit", the error, or the calls left."""
    return {row["build"]: "unfit" if "unfit" in row else row["error"] or str(row["calls"]) for row in rows}


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [
        ("ltoir", {PTX: "unfit", LTO: "0", RDC: "unfit", DLTO: "0"}),
        ("o", {PTX: "1", LTO: "0", RDC: "1", DLTO: "0"}),
        pytest.param("a", {PTX: "1", LTO: "0", RDC: "1", DLTO: "0"}, marks=pytest.mark.long),
        ("ptx", {PTX: "1", LTO: "1", RDC: "1"}),
        pytest.param("cubin", {PTX: "1", LTO: "1", RDC: "1"}, marks=pytest.mark.long),
        pytest.param("fatbin", {PTX: "1", LTO: "1", RDC: "1"}, marks=pytest.mark.long),
    ],
)
def test_each_build_takes_what_its_linker_takes(library: Path, suffix: str, expected: dict[str, str]) -> None:
    """Only LTO-IR inlines, and one source wants sources; neither is a problem."""
    rows = link_builds.link_all([library / f"lib.{suffix}", DEFINES], "k", ["90"], builds=[ONE_SOURCE, *expected])
    assert outcomes(rows) == {ONE_SOURCE: "unfit"} | expected
    assert rows[0]["error"] == f"wants the source of every unit; compiled already: lib.{suffix}"
    assert link_builds.problems(rows) == []


def test_what_a_linker_prints_is_kept(library: Path) -> None:
    rows = link_builds.link_all([library / "lib.fatbin", DEFINES], "k", ["90"], builds=[RDC, DLTO])
    assert "said" not in rows[0]
    (remark,) = link_builds.remarks(rows)
    assert remark.startswith("nvcc -dlto, sm_90, printed: nvlink info")


def test_lto_wants_lto_ir(library: Path, tmp_path: Path) -> None:
    source, user = tmp_path / "user.cu", tmp_path / "user.ptx"
    source.write_text(DEFINES)
    user.write_bytes(building.build(source, "nvrtc", "sm_90", "ptx", ["-rdc=true"]).code)
    rows = link_builds.link_all([library / "lib.cubin", user], "k", ["90"], builds=[LTO, PTX])
    assert outcomes(rows) == {LTO: "unfit", PTX: "1"}
    assert rows[0]["error"] == "finds no LTO-IR in these units"


def test_lto_ir_of_a_newer_toolkit(library: Path, tmp_path: Path) -> None:
    """Byte 6 of what NVRTC 13 writes is a version number."""
    code = bytearray((library / "lib.ltoir").read_bytes())
    code[6] += 9
    (tmp_path / "newer.ltoir").write_bytes(code)
    with pytest.raises(
        link_builds.LinkingError, match="OUTDATED_LIBRARY(.|\n)*\nAdvice: take a linker .* no older than"
    ):
        link_builds.link_all([tmp_path / "newer.ltoir", DEFINES], "k", ["90"], builds=[LTO])


def test_other_types_than_a_compiled_unit_declares(library: Path) -> None:
    with pytest.raises(link_builds.LinkingError, match="Prototype doesn't match for 'f'"):
        link_builds.link_all([library / "lib.ltoir", DEFINES.replace("float", "double")], "k", ["90"], builds=[LTO])


def test_a_compiled_kernel_is_run_once_a_unit_declares_it(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here on a GPU where nothing fits."""
    monkeypatch.setattr(toolchain, "gpus", lambda: [toolchain.Gpu("a GPU without memory", "9.0", "sm_90", 0)])
    units = [library / "lib.ltoir", DEFINES]
    (row,) = link_builds.link_all(units, "k", elements=1, builds=[LTO])
    assert row["not_run"].endswith(
        "of a kernel in a compiled file it must be told which parameters it has, by a unit that declares it"
    )
    units[1] += 'extern "C" __global__ void k(const float* x, float* y, long long n);\n'
    with pytest.raises(link_builds.LinkingError, match="1 elements do not fit"):
        link_builds.link_all(units, "k", elements=1, builds=[LTO])
