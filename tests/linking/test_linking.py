"""Linking without a GPU: what is inlined, by SASS, for three architectures, and every error in the tool's words."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from fourways import building, cli, lesson, linkers, linking, tables, toolchain

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
    return linking.link_all(archs=[request.param])


def test_lto_inlines_what_other_links_call(rows: list[tables.Row]) -> None:
    assert [row["build"] for row in rows] == list(linkers.BUILDS)
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
    table = linking.table(json.loads(json.dumps(rows)))
    cells = {line[0]: line[-1] for line in table.cells()}
    assert cells["nvcc -dlto"] == "inlined"
    assert cells["nvcc -rdc=true"] == "64 calls left"
    assert rows[0]["link_seconds"] is None
    assert all(row["link_seconds"] > 0 for row in rows[1:])
    assert f"apply_transform for {rows[0]['arch']}. Not run: no GPU here." in str(table)
    assert not {"kernel", "check", "arch"} & {heading for heading, _ in table.columns}


def test_several_architectures_side_by_side(tmp_path: Path) -> None:
    rows = linking.link_all([LIBRARY, DEFINES], "k", ["75", "sm_120"])
    assert [(row["build"], row["arch"]) for row in rows] == [
        (build, arch) for arch in ("sm_75", "sm_120") for build in linkers.BUILDS
    ]
    assert linking.inlining_table(rows).cells() == [
        [build, *["1 call left" if build in CALLED else "inlined"] * 2] for build in linkers.BUILDS
    ]
    assert [line[1] for line in linking.table(rows).cells()] == ["sm_75"] * 5 + ["sm_120"] * 5


def bars(rows: list[tables.Row]) -> dict[str, dict[str, str]]:
    """What the figure of these rows shows: for each panel the bars' labels and the texts at their ends."""
    axes = linking.figure(rows, "title").axes
    return {
        ax.get_title(loc="left"): dict(
            zip(
                [label.get_text() for label in ax.get_yticklabels()],
                [text.get_text() for text in ax.texts],
                strict=True,
            )
        )
        for ax in axes
    }


def test_the_figure_without_a_gpu(rows: list[tables.Row]) -> None:
    arch = rows[0]["arch"]
    shown = bars(rows)
    assert list(shown) == [
        f"{arch}: {name}" for name in ("registers a thread", "bytes of the cubin", "link, host clock")
    ]
    assert shown[f"{arch}: registers a thread"]["nvcc -rdc=true: 64 calls left"] == str(rows[3]["registers"])
    assert shown[f"{arch}: bytes of the cubin"]["one source: inlined"] == f"{rows[0]['bytes']:,}"
    assert len(shown[f"{arch}: link, host clock"]) == 4, "one source is not linked"
    both = bars([*rows, *({**row, "arch": "sm_80"} for row in rows)])
    assert list(both) == [f"{arch}: registers a thread", "sm_80: registers a thread"]


def test_the_figure_of_a_run_is_the_kernels_time(rows: list[tables.Row]) -> None:
    timed = [{**row, "seconds": {"median": 1e-4 * number}} for number, row in enumerate(rows, 1)]
    timed[2]["error"] = "failed"
    (panel,) = bars(timed).values()
    assert panel == {
        "one source: inlined": "100 µs",
        "PTX, nvJitLink: 64 calls left": "200 µs",
        "nvcc -rdc=true: 64 calls left": "400 µs",
        "nvcc -dlto: inlined": "500 µs",
    }


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
    rows = linking.link_all([LIBRARY, unit], entry="k", archs=["90"])
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
    path = linkers.unit_file(LIBRARY.replace("f(float x);", "f(float x);\n" + divides), 1, tmp_path)
    cubin = building.build(path).code
    assert "CALL" in building.disassemble(cubin)
    assert linkers.look_inside(cubin, "k")["inlined"]


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
    with pytest.raises(linkers.LinkingError) as error:
        linking.link_all(units, entry, [arch])
    lines = str(error.value).splitlines()
    assert words in str(error.value)
    assert lines[-1].startswith(f"Advice: {advice}")
    assert sum(line.startswith("Advice") for line in lines) == 1


@pytest.mark.parametrize("build", list(linkers.BUILDS))
@pytest.mark.parametrize(
    ("units", "words"),
    [([LIBRARY], "ndefined reference|nresolved extern"), ([LIBRARY, DEFINES, DEFINES], "ultipl|already been defined")],
    ids=["undefined", "twice"],
)
def test_every_build_refuses(build: str, units: list[str], words: str, tmp_path: Path) -> None:
    """Also the PTX link of a symbol defined twice, for which nvJitLink returns a cubin."""
    paths = [linkers.unit_file(unit, number, tmp_path) for number, unit in enumerate(units, 1)]
    with pytest.raises(RuntimeError, match=words):
        linkers.BUILDS[build](paths, "sm_90", tmp_path)


def test_variables_defined_twice_in_ptx(tmp_path: Path) -> None:
    counter = "__device__ int counter[4];\n"
    paths = [linkers.unit_file(unit, number, tmp_path) for number, unit in enumerate([counter + LIBRARY, counter], 1)]
    with pytest.raises(linkers.LinkingError, match="definition of 'counter' in 'unit_2.cu', first defined in 'unit_1"):
        linkers.BUILDS["PTX, nvJitLink"](paths, "sm_90", tmp_path)


@pytest.mark.parametrize(
    ("output", "compiler", "linker", "right"),
    [
        ("ltoir", (13, 0), (13, 0), True),
        ("ltoir", (13, 0), (13, 5), True),
        ("ltoir", (13, 5), (13, 0), False),
        ("ltoir", (12, 9), (13, 0), False),
        ("ptx", (12, 9), (13, 0), True),
        ("ptx", (13, 5), (13, 0), False),
        ("cubin", (12, 9), (13, 0), True),
        ("cubin", (13, 1), (13, 0), False),
    ],
)
def test_version_rules(output: str, compiler: tuple[int, int], linker: tuple[int, int], right: bool) -> None:
    if right:
        linkers.check_versions(output, ("NVRTC", compiler), ("nvJitLink", linker))
        return
    what = {"ltoir": "LTO-IR", "ptx": "PTX", "cubin": "machine code"}[output]
    versions = f"nvJitLink {linker[0]}.{linker[1]} cannot link {what} of NVRTC {compiler[0]}.{compiler[1]}"
    with pytest.raises(
        linkers.LinkingError, match=rf"{versions}; wanted: .*\nAdvice: take nvJitLink and NVRTC from one"
    ):
        linkers.check_versions(output, ("NVRTC", compiler), ("nvJitLink", linker))


def failed(rows: list[tables.Row], words: str) -> list[bool]:
    return [words in (row["error"] or "") for row in rows]


def test_versions_are_asserted_before_linking(monkeypatch: pytest.MonkeyPatch) -> None:
    from cuda.bindings import nvjitlink

    monkeypatch.setattr(nvjitlink, "version", lambda: (12, 9))
    assert failed(linking.link_all(), "nvJitLink 12.9 cannot link") == [False, True, True, False, False]


@pytest.mark.parametrize(
    ("version", "refuses"), [("V12.9.1", [False] * 3 + [True] * 2), ("V14.0.1", [False] * 4 + [True])]
)
def test_nvcc_and_nvlink_of_two_toolkits(monkeypatch: pytest.MonkeyPatch, version: str, refuses: list[bool]) -> None:
    """An older nvlink takes nothing of nvcc's; one of the next major version its machine code, but not its LTO-IR."""
    from fourways import inventory

    real = inventory.program_version
    fake = lambda tool: version.removeprefix("V") if tool.name == "nvlink" else real(tool)  # noqa: E731
    monkeypatch.setattr(inventory, "program_version", fake)
    assert failed(linking.link_all(), f"nvlink {version[1:5]} cannot link") == refuses


def test_a_driver_is_not_asked_to_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without nvJitLink cuda.core would ask the driver, and warn, and fail on LTO-IR in words of its own."""
    from cuda import core

    monkeypatch.setattr(core, "Linker", SimpleNamespace(which_backend=lambda: "driver"))
    rows = linking.link_all()
    assert failed(rows, "nvJitLink is missing or too old; cuda.core would ask") == [False, True, True, False, False]
    assert "which cannot link LTO-IR\nAdvice: make setup" in rows[2]["error"]


def test_without_nvcc_the_other_builds_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    find = toolchain.program
    monkeypatch.setattr(toolchain, "program", lambda name: None if name == "nvcc" else find(name))
    rows = linking.link_all()
    assert [row["error"] for row in rows] == [None] * 3 + [f"no nvcc found: {toolchain.SETUP}"] * 2


@pytest.mark.parametrize(
    ("parameters", "taken"),
    [
        ("const float* x, float* y, long long n", True),
        ("const float *__restrict__ in, float *__restrict__ out, const long long size", True),
        ("const float* x, float* y, long n", True),
        ("const float* x, float* y, int n", False),
        ("const double* x, double* y, long long n", False),
        ("float* y, const float* x, long long n", False),
        ("const float* x, float* y", False),
    ],
)
def test_the_compiler_says_whether_a_kernel_can_be_called(parameters: str, taken: bool, tmp_path: Path) -> None:
    """Also one that stands in a header, behind a macro."""
    (tmp_path / "k.cuh").write_text(f'#define KERNEL extern "C" __global__ void\nKERNEL k({parameters}) {{}}\n')
    unit = tmp_path / "unit.cu"
    unit.write_text('#include "k.cuh"\n')
    assert linkers.takes_signature([unit], "k", "sm_90", tmp_path) is taken
    assert not linkers.takes_signature([unit], "other", "sm_90", tmp_path)


GPU = toolchain.Gpu("NVIDIA H200", "9.0", "sm_90", 2**37)


@pytest.mark.parametrize(
    ("arch", "library", "why"),
    [
        ("sm_80", LIBRARY, "Not run: code for sm_80 does not run on sm_90."),
        ("sm_100", LIBRARY, "Not run: code for sm_100 does not run on sm_90."),
        (
            None,
            LIBRARY.replace("long long n", "int n"),
            f"Not run: the compiler does not take k for k{linkers.SIGNATURE}.",
        ),
    ],
)
def test_what_is_not_run_says_why_and_on_which_gpu(
    monkeypatch: pytest.MonkeyPatch, arch: str | None, library: str, why: str
) -> None:
    monkeypatch.setattr(toolchain, "gpus", lambda: [GPU])
    rows = linking.link_all([library, DEFINES], "k", [arch] if arch else [])
    assert {row["arch"] for row in rows} == {arch or "sm_90"}, "the GPU's own, if none is named"
    assert f"GPU: NVIDIA H200, compute capability 9.0. {why}" in str(linking.table(rows))
    assert all("check" not in row for row in rows)


def test_the_gpu_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert linking.find_gpu(None) is None
    with pytest.raises(ValueError, match="no CUDA device 0 here; there are: none"):
        linking.find_gpu(0)
    other = toolchain.Gpu("NVIDIA L4", "8.9", "sm_89", 2**34)
    monkeypatch.setattr(toolchain, "gpus", lambda: [GPU, other])
    assert [linking.find_gpu(device) for device in (None, 0, 1)] == [GPU, GPU, other]
    with pytest.raises(ValueError, match=r"no CUDA device 2 here; there are: 0 \(NVIDIA H200\), 1 \(NVIDIA L4\)"):
        linking.find_gpu(2)


def command(*arguments: object) -> tuple[int, str]:
    """The exit code of `fourways link`, and what it says: printed, or raised for `cli.main` to print."""
    done = CliRunner().invoke(cli.app, ["link", *map(str, arguments)])
    told = isinstance(done.exception, (RuntimeError, lesson.LessonError))
    assert done.exception is None or told or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, " ".join((done.output + (str(done.exception) if told else "")).split())


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((LIBRARY, "--entry", "k"), 1, "Advice: name the unit that defines it, and declare"),
        ((LIBRARY, DEFINES, DEFINES, "--entry", "k"), 1, "multiply defined"),
        (("--entry", "other"), 1, "no kernel 'other' in the program; there are: apply_transform"),
        (("--arch", "90", "--arch", "33"), 1, "Advice: take one that the compiler knows"),
        (("--device", "7"), 2, "no CUDA device 7 here"),
        (("--figure", "a.gif"), 2, "a .svg or a .png"),
        (("1",), 1, "no kernel 'apply_transform' in the program; there are: doublify"),
        (("// empty\n",), 1, "there are: none Advice: define it as"),
    ],
)
def test_the_command_writes_nothing_for_bad_input(
    tmp_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    got, said = command("--figure", tmp_path / "a.svg", "--json", tmp_path / "a.json", *arguments)
    assert got == code and words in said.replace("│ ", "")
    assert list(tmp_path.iterdir()) == []


def test_one_build_that_fails_fails_the_command(tmp_path: Path) -> None:
    hidden = "static __device__ float hidden(float x) { return x; }\n"
    got, said = command(hidden + LIBRARY, hidden + DEFINES, "--entry", "k", "--json", tmp_path / "a.json")
    assert got == 1 and "one source, sm_90: the compiler refused" in said and "nvcc -dlto" in said
    assert list(tmp_path.iterdir()) == []


def test_the_command_draws_and_writes(tmp_path: Path) -> None:
    got, said = command("--figure", tmp_path / "a.svg", "--json", tmp_path / "a.json", "-a", "75", "-a", "90")
    assert got == 0 and "sm_75 sm_90" in said and "64 calls left" in said
    assert "sm_75: registers a thread" in (tmp_path / "a.svg").read_text()
    assert len(json.loads((tmp_path / "a.json").read_text())["tables"]["link"]) == 10


def test_a_reference_that_cannot_be_had(tmp_path: Path) -> None:
    with pytest.raises(lesson.LessonError, match="no file"):
        linking.link_all(expected="nowhere.py:f")
