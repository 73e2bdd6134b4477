"""Five builds without a GPU: what they inline, what they refuse in the tool's words, and which tools fit together."""

import dataclasses
import time
from pathlib import Path
from typing import Any

import pytest

from fourways import building, link_builds, tables, toolchain
from fourways.kernels import InputError
from fourways.link_builds import builds

CALLED = ("PTX, nvJitLink", "nvcc -rdc=true")
BY_NVRTC, BY_NVCC = list(link_builds.BUILDS)[:3], ["one source", *list(link_builds.BUILDS)[3:]]
LIBRARY = """extern "C" __device__ float f(float x);
extern "C" __global__ void k(const float* x, float* y, long long n) { y[threadIdx.x] = f(x[threadIdx.x]); }
"""
DEFINES = 'extern "C" __device__ float f(float x) { return x + 1; }\n'
GPU = toolchain.Gpu("a GPU without memory", "9.0", "sm_90", 0)


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "gpus", list)


def without(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    find = toolchain.program
    monkeypatch.setattr(toolchain, "program", lambda name: None if name == missing else find(name))


def calls(*units: Path | str) -> dict[str, int]:
    """The calls that each build leaves in the kernel `k`; none fails."""
    rows = link_builds.link_all(units, "k", ["sm_90"])
    assert [row["error"] for row in rows] == [None] * 5
    return {row["build"]: row["calls"] for row in rows}


def test_strings_and_files_of_ones_own(tmp_path: Path) -> None:
    """Two files may have one name, and include what lies beside them or in a folder beside theirs."""
    for folder, text in (("a", '#include "../b/library.cuh"\n'), ("b", '#include "defines.cuh"\n')):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "unit.cu").write_text(text)
    (tmp_path / "b" / "library.cuh").write_text(LIBRARY)
    (tmp_path / "b" / "defines.cuh").write_text(DEFINES)
    expected = {build: int(build in CALLED) for build in link_builds.BUILDS}
    assert calls(tmp_path / "a" / "unit.cu", tmp_path / "b" / "unit.cu") == expected
    rows = link_builds.link_all([LIBRARY, tmp_path / "b" / "unit.cu"], "k", ["sm_90"], builds=["PTX, nvJitLink"])
    assert [(row["calls"], row["error"]) for row in rows] == [(1, None)]


def test_the_compilers_own_helpers_do_not_count() -> None:
    """A division's slow path is a function of the compiler's, called even where the user's is inlined."""
    divides = LIBRARY.replace("f(x[threadIdx.x])", "f(x[threadIdx.x]) / x[n]")
    rows = link_builds.link_all([divides, DEFINES], "k", ["sm_90"], builds=BY_NVRTC)
    assert [row["calls"] for row in rows] == [int(row["build"] in CALLED) for row in rows]
    assert [row["functions"] for row in rows] == [["f"] if row["build"] in CALLED else [] for row in rows]


def test_a_loop_that_calls_its_own_beginning_calls_no_function() -> None:
    """For sm_80 to sm_89 the loop of the default program goes back to its label by a CALL."""
    rows = link_builds.link_all(archs=["sm_80"], builds=["one source", "PTX, nvJitLink"])
    assert [row["calls"] for row in rows] == [0, 64]


def test_noinline_is_obeyed() -> None:
    builds = [*BY_NVRTC, "nvcc -dlto"]
    rows = link_builds.link_all(
        [LIBRARY, DEFINES.replace("__device__", "__device__ __noinline__")], "k", ["sm_90"], builds=builds
    )
    assert [row["calls"] for row in rows] == [1] * 4


def test_cuobjdump_alone_counts_calls_too(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "nvdisasm")
    rows = link_builds.link_all([LIBRARY, DEFINES], "k", ["sm_90"], builds=BY_NVRTC)
    assert [row["calls"] for row in rows] == [0, 1, 0]


@pytest.mark.parametrize(
    ("units", "entry", "arch", "words", "advice"),
    [
        ([LIBRARY], "k", "90", "Unresolved extern function 'f'", "name the unit that defines it"),
        ([LIBRARY, DEFINES, DEFINES], "k", "90", "'f': symbol multiply defined", "keep one definition"),
        ([LIBRARY, DEFINES], "k", "33", "--gpu-architecture", "take one that the compiler knows, such as 75"),
        ([LIBRARY, DEFINES.replace("+ 1", "+ z")], "k", "90", 'unit_2.cu(1): error: identifier "z"', "mend the source"),
        ([LIBRARY, DEFINES], "other", "90", "no kernel 'other' in the program; there are: k", "name it: --entry k"),
        (["// empty\n"], "k", "90", "no kernel 'k' in the program; there are: none", "define it as"),
        (["__global__ void k() {}\n"], "k", "90", "no kernel 'k' in the program; there are: _Z1kv", "define it as"),
        ([LIBRARY, "nowhere.cu"], "k", "90", "no file nowhere.cu", "give the path"),
    ],
    ids=["undefined", "twice", "architecture", "compile", "entry", "empty", "mangled", "file"],
)
def test_errors_in_the_tools_words(units: list[str], entry: str, arch: str, words: str, advice: str) -> None:
    with pytest.raises(link_builds.LinkingError) as error:
        link_builds.link_all(units, entry, [arch], builds=["one source", "LTO-IR, nvJitLink"])
    lines = str(error.value).splitlines()
    assert words in str(error.value)
    assert lines[-1].startswith(f"Advice: {advice}")
    assert sum(line.startswith("Advice") for line in lines) == 1


def written(folder: Path, *units: str) -> list[Path]:
    paths = [folder / f"unit_{number}.cu" for number, _ in enumerate(units, 1)]
    for path, unit in zip(paths, units, strict=True):
        path.write_text(unit)
    return paths


@pytest.mark.parametrize("build", list(link_builds.BUILDS))
@pytest.mark.parametrize(
    ("units", "words"),
    [([LIBRARY], "ndefined reference|nresolved extern"), ([LIBRARY, DEFINES, DEFINES], "ultipl|already been defined")],
    ids=["undefined", "twice"],
)
def test_every_build_refuses(build: str, units: list[str], words: str, tmp_path: Path) -> None:
    """Also the PTX link of a symbol defined twice, for which nvJitLink returns a cubin, and may crash later."""
    with pytest.raises(building.BuildError, match=words):
        link_builds.BUILDS[build](written(tmp_path, *units), "sm_90", tmp_path)


@pytest.mark.parametrize("build", list(link_builds.BUILDS)[1:])
def test_every_link_sees_other_types_than_declared(build: str, tmp_path: Path) -> None:
    """nvJitLink prints it, and an LTO link would not notice: then the answers would be wrong."""
    with pytest.raises(
        link_builds.LinkingError, match="Prototype doesn't match for 'f' in '2_(.|\n)*\nAdvice: declare it with"
    ):
        link_builds.BUILDS[build](written(tmp_path, LIBRARY, DEFINES.replace("float", "double")), "sm_90", tmp_path)


def test_nvcc_may_take_what_nvrtc_refuses(tmp_path: Path) -> None:
    units = written(tmp_path, "#include <vector>\n" + LIBRARY, DEFINES)
    assert link_builds.BUILDS["nvcc -dlto"](units, "sm_90", tmp_path).cubin
    with pytest.raises(building.BuildError, match="NVRTC could not compile"):
        link_builds.BUILDS["LTO-IR, nvJitLink"](units, "sm_90", tmp_path)


def test_variables_defined_twice_in_ptx(tmp_path: Path) -> None:
    counter = "__device__ int counter[4];\n"
    paths = written(tmp_path, counter + LIBRARY, counter)
    with pytest.raises(link_builds.LinkingError, match="definition of 'counter' in '2_unit_2.ptx', first defined in "):
        link_builds.BUILDS["PTX, nvJitLink"](paths, "sm_90", tmp_path)


@pytest.mark.parametrize(
    ("output", "compiler", "linker", "right"),
    [
        ("ltoir", "13.0", "13.0", True),
        ("ltoir", "13.0", "13.5", True),
        ("ltoir", "13.5", "13.0", False),
        ("ltoir", "12.9", "13.0", False),
        ("ptx", "12.9", "13.0", True),
        ("ptx", "13.5", "13.0", False),
        ("ptx", "13.9", "13.10", True),
        ("cubin", "12.9", "13.0", True),
        ("cubin", "13.1", "13.0", False),
    ],
)
def test_version_rules(output: str, compiler: str, linker: str, right: bool) -> None:
    if right:
        builds.check_versions(output, ("NVRTC", compiler), ("nvJitLink", linker))
        return
    what = {"ltoir": "LTO-IR", "ptx": "PTX", "cubin": "machine code"}[output]
    words = f"nvJitLink {linker} cannot link {what} of NVRTC {compiler}; wanted: .*\nAdvice: take nvJitLink and NVRTC"
    with pytest.raises(link_builds.LinkingError, match=words):
        builds.check_versions(output, ("NVRTC", compiler), ("nvJitLink", linker))


def failed(words: str, builds: list[str]) -> list[bool]:
    """Which of these builds say this; `one source`, which links nothing, is among them."""
    rows: list[tables.Row] = link_builds.link_all([LIBRARY, DEFINES], "k", ["sm_90"], builds=builds)
    return [words in (row["error"] or "") for row in rows]


def test_versions_are_asserted_before_linking(monkeypatch: pytest.MonkeyPatch) -> None:
    from cuda.bindings import nvjitlink

    monkeypatch.setattr(nvjitlink, "version", lambda: (12, 9))
    assert failed("nvJitLink 12.9 cannot link", BY_NVRTC) == [False, True, True]


@pytest.mark.parametrize(("version", "refuses"), [("12.9.1", [False, True, True]), ("14.0.1", [False, False, True])])
def test_nvcc_and_nvlink_of_two_toolkits(monkeypatch: pytest.MonkeyPatch, version: str, refuses: list[bool]) -> None:
    """An older nvlink takes nothing of nvcc's; one of the next major version its machine code, but not its LTO-IR."""
    real = toolchain.program_version
    fake = lambda tool: version if tool.name == "nvlink" else real(tool)  # noqa: E731
    monkeypatch.setattr(toolchain, "program_version", fake)
    assert failed(f"nvlink {version[:4]} cannot link", BY_NVCC) == refuses


def test_without_nvjitlink_the_other_builds_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    from cuda.bindings import nvjitlink

    def version() -> tuple[int, int]:
        raise RuntimeError("no library")

    monkeypatch.setattr(nvjitlink, "version", version)
    words = f"nvJitLink or NVRTC cannot be loaded (no library)\nAdvice: {toolchain.SETUP}"
    assert failed(words, [*BY_NVRTC, "nvcc -rdc=true"]) == [False, True, True, False]


@pytest.mark.parametrize("tool", ["nvcc", "nvlink"])
def test_without_nvcc_or_nvlink_the_other_builds_remain(monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    without(monkeypatch, tool)
    assert failed(f"no {tool} found: {toolchain.SETUP}", list(link_builds.BUILDS)) == [False] * 3 + [True] * 2


def test_without_cuobjdump_nothing_can_be_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "cuobjdump")
    with pytest.raises(
        link_builds.LinkingError, match="^no cuobjdump found, which looks into machine code: make setup$"
    ):
        link_builds.link_all([LIBRARY, DEFINES], "k", builds=["one source"])


@pytest.mark.parametrize(
    "parameters",
    [
        "const float* x, float* y, long long n",
        "const float *__restrict__ in, float *__restrict__ out, const long long size",
        "const float* x, float* y, int n",
        "float* y, const double* x, const double* z, long n, double factor",
        "const float* x, float* y",
    ],
)
def test_the_compiler_says_how_a_kernel_is_called(
    parameters: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that stands in a header, behind a macro: it is run, here on a GPU where nothing fits."""
    (tmp_path / "k.cuh").write_text(f'#define KERNEL extern "C" __global__ void\nKERNEL k({parameters}) {{}}\n')
    unit = tmp_path / "unit.cu"
    unit.write_text('#include "k.cuh"\n')
    monkeypatch.setattr(toolchain, "gpus", lambda: [GPU])
    with pytest.raises(link_builds.LinkingError, match="1 elements do not fit:\n.*\nAdvice: take fewer: --elements"):
        link_builds.link_all([unit], "k", elements=1, builds=["one source"])


def test_a_case_that_does_not_fit_the_kernel(tmp_path: Path) -> None:
    case = tmp_path / "case.py"
    case.write_text("def make_inputs(size):\n    return ()\n")
    unit = 'extern "C" __global__ void k(const float* x, float* y, long long n) {}\n'
    with pytest.raises(InputError, match=r"case.py: make_inputs gives 0 values; k\(.* wants 2: x, n"):
        link_builds.link_all([unit], "k", case=case, builds=["one source"])


def test_the_seconds_of_compiling_are_those_of_all_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that says 2 s for the first unit and 3 s for the second."""
    build, seconds = building.build, iter((2.0, 3.0))

    def timed(*arguments: Any, **named: Any) -> Any:
        return dataclasses.replace(build(*arguments, **named), seconds=next(seconds))

    monkeypatch.setattr(building, "build", timed)
    start = time.perf_counter()
    [row] = link_builds.link_all([LIBRARY, DEFINES], "k", ["sm_90"], builds=["PTX, nvJitLink"])
    assert row["compile_seconds"] == 5
    assert 0 < row["link_seconds"] < time.perf_counter() - start
