"""Linking without a GPU: what is inlined, by SASS, for three architectures, and every error in the tool's words."""

from pathlib import Path

import numpy as np
import pytest

from fourways import building, linking, tables, toolchain

ARCHITECTURES = ("sm_75", "sm_90", "sm_120")
CALLED = ("PTX, nvJitLink", "nvcc -rdc=true")
LIBRARY = """extern "C" __device__ float f(float x);
extern "C" __global__ void k(const float* x, float* y, long long n) { y[threadIdx.x] = f(x[threadIdx.x]); }
"""
DEFINES = 'extern "C" __device__ float f(float x) { return x + 1; }\n'


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "gpus", lambda: [])


@pytest.fixture(scope="module", params=ARCHITECTURES)
def rows(request: pytest.FixtureRequest) -> list[tables.Row]:
    return linking.link_all(arch=request.param)


def test_lto_inlines_what_other_links_call(rows: list[tables.Row]) -> None:
    assert [row["build"] for row in rows] == list(linking.BUILDS)
    for row in rows:
        assert row["error"] is None
        called = row["build"] in CALLED
        assert (row["inlined"], row["calls"] > 0) == (not called, called)
        assert row["functions"] == (["user_transform"] if called else [])


def test_a_call_costs_registers_and_bytes(rows: list[tables.Row]) -> None:
    called, inlined = ([row for row in rows if (row["build"] in CALLED) is wanted] for wanted in (True, False))
    for what in ("registers", "bytes"):
        assert min(row[what] for row in called) > max(row[what] for row in inlined)


def test_lto_makes_the_one_source_build_again(rows: list[tables.Row]) -> None:
    assert len({row["registers"] for row in rows if row["inlined"]}) == 1


def test_the_table_shows_it(rows: list[tables.Row]) -> None:
    table = linking.table(rows)
    cells = {line[0]: line[-1] for line in table.cells()}
    assert cells["nvcc -dlto"] == "inlined"
    assert cells["nvcc -rdc=true"].endswith(" left")
    assert rows[0]["link_seconds"] is None
    assert all(row["link_seconds"] > 0 for row in rows[1:])
    assert f"{rows[0]['arch']}; GPU: not run" in str(table)
    assert "kernel" not in str(table).split("\n")[0]


def test_the_reference_is_64_calls_one_after_another() -> None:
    x = np.random.default_rng(1).random(1009, np.float32)
    value = x.copy()
    for _ in range(64):
        value = np.float32(0.99) * value + np.float32(0.5)
    np.testing.assert_allclose(linking.reference(x), value, rtol=1e-6)


def test_strings_and_files_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "beside.cuh").write_text(DEFINES)
    unit = tmp_path / "unit.cu"
    unit.write_text('#include "beside.cuh"\n')
    rows = linking.link_all([LIBRARY, unit], entry="k", arch="90")
    assert [row["error"] for row in rows] == [None] * 5
    assert [row["inlined"] for row in rows] == [row["build"] not in CALLED for row in rows]


def test_two_units_may_have_the_same_file_name(tmp_path: Path) -> None:
    for folder, text in (("a", LIBRARY), ("b", DEFINES)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "unit.cu").write_text(text)
    rows = linking.link_all([tmp_path / "a" / "unit.cu", tmp_path / "b" / "unit.cu"], entry="k")
    assert [row["error"] for row in rows] == [None] * 5


def test_the_compilers_own_helpers_are_not_calls(tmp_path: Path) -> None:
    """A division's slow path is a function of the compiler's, called even where the user's is inlined."""
    divides = 'extern "C" __device__ float f(float x) { return 1 / (x + 3) / x; }\n'
    path = linking._file(LIBRARY.replace("f(float x);", "f(float x);\n" + divides), 1, tmp_path)
    cubin = building.build(path).code
    assert "CALL" in building.disassemble(cubin)
    assert linking.look_inside(cubin, "k")["inlined"]


def test_noinline_is_obeyed() -> None:
    rows = linking.link_all([LIBRARY, DEFINES.replace("__device__", "__device__ __noinline__")], entry="k")
    assert [row["calls"] for row in rows] == [1] * 5


def test_a_build_that_fails_alone_says_so_in_its_row() -> None:
    """Two units may each have a `static` of one name; one source may not."""
    hidden = "static __device__ float hidden(float x) { return x; }\n"
    rows = linking.link_all([hidden + LIBRARY, hidden + DEFINES], entry="k")
    assert "already been defined" in rows[0]["error"]
    assert [row["error"] for row in rows[1:]] == [None] * 4
    assert "already been defined" in str(linking.table(rows))


@pytest.mark.parametrize(
    ("units", "entry", "arch", "words", "advice"),
    [
        ([LIBRARY], "k", "90", "Unresolved extern function 'f'", "name the unit that defines it"),
        ([LIBRARY, DEFINES, DEFINES], "k", "90", "'f': symbol multiply defined", "keep one definition"),
        ([LIBRARY, DEFINES], "k", "33", "--gpu-architecture", "take one that the compiler knows, such as 75"),
        ([LIBRARY, DEFINES.replace("+ 1", "+ z")], "k", "90", 'unit_2.cu(1): error: identifier "z"', "mend the source"),
        ([LIBRARY, DEFINES], "other", "90", "no kernel 'other' in the program; there are: k", "take one of these"),
        ([LIBRARY, "nowhere.cu"], "k", "90", "no file nowhere.cu", "give the path"),
    ],
    ids=["undefined", "twice", "architecture", "compile", "entry", "file"],
)
def test_errors_in_the_tools_words(units: list[str], entry: str, arch: str, words: str, advice: str) -> None:
    with pytest.raises(linking.LinkingError) as error:
        linking.link_all(units, entry, arch)
    lines = str(error.value).splitlines()
    assert words in str(error.value)
    assert lines[-1].startswith(f"Advice: {advice}")
    assert sum(line.startswith("Advice") for line in lines) == 1


@pytest.mark.parametrize("build", list(linking.BUILDS))
@pytest.mark.parametrize(
    ("units", "words"),
    [([LIBRARY], "ndefined reference|nresolved extern"), ([LIBRARY, DEFINES, DEFINES], "ultipl|already been defined")],
    ids=["undefined", "twice"],
)
def test_every_build_refuses(build: str, units: list[str], words: str, tmp_path: Path) -> None:
    """Also the PTX link of a symbol defined twice, for which nvJitLink returns a cubin."""
    paths = [linking._file(unit, number, tmp_path) for number, unit in enumerate(units, 1)]
    with pytest.raises(RuntimeError, match=words):
        linking.BUILDS[build](paths, "sm_90", tmp_path)


def test_variables_defined_twice_in_ptx(tmp_path: Path) -> None:
    counter = "__device__ int counter[4];\n"
    paths = [linking._file(unit, number, tmp_path) for number, unit in enumerate([counter + LIBRARY, counter], 1)]
    with pytest.raises(linking.LinkingError, match="definition of 'counter' in 'unit_2.cu', first defined in 'unit_1"):
        linking.BUILDS["PTX, nvJitLink"](paths, "sm_90", tmp_path)


@pytest.mark.parametrize(
    ("output", "compiler", "linker", "right"),
    [
        ("ltoir", (13, 0), (13, 0), True),
        ("ltoir", (13, 0), (13, 5), True),
        ("ltoir", (13, 5), (13, 0), False),
        ("ltoir", (12, 9), (13, 0), False),
        ("ptx", (12, 9), (13, 0), True),
        ("ptx", (13, 5), (13, 0), False),
    ],
)
def test_version_rules(output: str, compiler: tuple[int, int], linker: tuple[int, int], right: bool) -> None:
    if right:
        linking.check_versions(output, compiler, linker)
        return
    versions = f"nvJitLink {linker[0]}.{linker[1]} cannot link {output} of NVRTC {compiler[0]}.{compiler[1]}"
    with pytest.raises(linking.LinkingError, match=rf"{versions}; wanted: .*\nAdvice: install"):
        linking.check_versions(output, compiler, linker)


def test_versions_are_asserted_before_linking(monkeypatch: pytest.MonkeyPatch) -> None:
    from cuda.bindings import nvjitlink

    monkeypatch.setattr(nvjitlink, "version", lambda: (12, 9))
    rows = linking.link_all()
    assert ["nvJitLink 12.9 cannot link" in (row["error"] or "") for row in rows] == [False, True, True, False, False]


def test_without_nvcc_the_other_builds_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    find = toolchain.program
    monkeypatch.setattr(toolchain, "program", lambda name: None if name == "nvcc" else find(name))
    rows = linking.link_all()
    assert [row["error"] for row in rows] == [None] * 3 + [f"no nvcc found: {toolchain.SETUP}"] * 2


@pytest.mark.parametrize(
    ("arch", "gpu", "runs"),
    [
        ("sm_90", "sm_90", True),
        ("sm_80", "sm_86", True),
        ("sm_86", "sm_80", False),
        ("sm_90", "sm_100", False),
        ("sm_100", "sm_103", True),
    ],
)
def test_where_a_cubin_runs(arch: str, gpu: str, runs: bool) -> None:
    assert linking._runs_on(arch, gpu) is runs
