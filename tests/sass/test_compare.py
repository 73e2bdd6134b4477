"""The ways' machine code counted and compared without a GPU; the option to blame is found by building."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fourways import building, cli, figures, kernels, sass, toolchain, ways
from fourways.sass.disassembly import Instruction

DOUBLIFY = kernels.path("doublify")
WAYS_OF_CODE = [name for name, way in ways.WAYS.items() if way.recipe]
BATTERY = """
extern "C" __global__ void battery(float* x, double* d, int* k, int n)
{
    __shared__ float tile[256];
    float local[32];
    for (int i = 0; i < 32; i++) local[i] = x[i * n];
    tile[threadIdx.x] = local[k[0] & 31] * x[n];
    __syncthreads();
    d[threadIdx.x] = d[threadIdx.x] * d[2] + tile[threadIdx.x ^ 1];
    if (k[threadIdx.x] > 3) k[1] = __shfl_xor_sync(~0u, k[2], 1);
}
__global__ void plain(float* x) { x[0] = x[1] / x[2]; }
__global__ void plain_or_longer(float* x) { x[0] = 1; }  // mangled: _Z15plain, which holds 5plain
template <int N> __global__ void templated(float* x) { x[0] = N; }
template __global__ void templated<3>(float*);
"""


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    path = tmp_path / "battery.cu"
    path.write_text(BATTERY)
    return path


@pytest.mark.parametrize("way", WAYS_OF_CODE)
def test_doublify_by_every_way(way: str) -> None:
    """One load, one addition (2 * x is x + x), one store, a loop; CuPy's two ways flush denormals to zero."""
    lines = sass.listing(DOUBLIFY, way)
    assert {line.entry for line in lines} == {"doublify"}
    assert [line.base for line in lines if line.kind in ("global", "fp32")] == ["LDG", "FADD", "STG"]
    assert [line.opcode for line in lines if line.kind == "fp32"] == [
        "FADD.FTZ" if way in ("nvrtc", "nvcc") else "FADD"
    ]
    compiler, arch, *options = lines.recipe
    assert (
        (compiler, arch) == ("nvrtc" if way == "nvrtc" else "nvcc", "sm_90") == (ways.WAYS[way].recipe[0], lines.arch)
    )
    assert options == list(ways.WAYS[way].recipe[1])


@pytest.mark.parametrize("arch", toolchain.ARCHITECTURES)
def test_every_kind_is_counted(battery: Path, arch: str) -> None:
    lines = sass.listing(battery, "nvrtc", arch, "battery")
    table = sass.counts([lines])
    assert {row["entry"] for row in table.rows} == {"battery"}
    found = {row["kind"]: row["counts"][f"nvrtc sm_{arch}"] for row in table.rows}
    assert found["shared"] == 2 and found["fp64"] == 1 and found["conversion"] >= 1
    assert min(found[kind] for kind in ("global", "fp32", "integer", "move", "control", "sync", "special")) > 0
    assert found.pop("all") == sum(found.values()) == len(lines)
    assert not {"generic", "texture", "tensor", "tma"} & set(found), "a kind that does not occur has no row"


def test_the_table_of_doublify(battery: Path) -> None:
    table = sass.counts([sass.listing(DOUBLIFY, way, arch) for arch in ("sm_80", "90") for way in WAYS_OF_CODE])
    builds = [f"{way} {arch}" for arch in ("sm_80", "sm_90") for way in WAYS_OF_CODE]
    assert [heading for heading, _ in table.columns] == ["kind", *builds]
    assert {row["kind"]: row["counts"] for row in table.rows}["global"] == dict.fromkeys(builds, 2)
    assert [row["kind"] for row in json.loads(json.dumps(table.rows))][:2] == ["all", "global"]
    again = sass.table(json.loads(json.dumps(table.rows)))
    assert str(again) == str(table) and again.name == "sass"
    several = sass.counts([sass.listing(battery, "nvcc")])
    assert several.columns[0][0] == "entry", "several functions are told apart"


def test_the_figure_is_the_table(battery: Path) -> None:
    """A panel for each function; in it a bar for each build, as long as "all", in as many parts as there are kinds."""
    rows = sass.counts([sass.listing(battery, way) for way in ("nvrtc", "nvcc")]).rows
    drawn = sass.figure(rows, "battery")
    totals = [row["counts"] for row in rows if row["kind"] == "all"]
    for axes, counts in zip(drawn.axes, totals, strict=True):
        assert [text.get_text() for text in axes.texts] == [str(count) for count in counts.values()]
        ends = [max(bar.get_x() + bar.get_width() for bar in bars) for bars in zip(*axes.containers, strict=True)]
        assert ends == list(counts.values())
    kinds = {row["kind"] for row in rows} - {"all"}
    assert {text.get_text() for text in drawn.legends[0].texts} == kinds
    looks = {(bars[0].get_facecolor(), bars[0].get_hatch()) for bars in drawn.axes[0].containers}
    assert len(looks) == len(kinds) > len(figures.STAGE_COLOURS), "no two kinds look alike"


def test_the_diff_of_cupy_and_pycuda_is_one_line() -> None:
    found = sass.diff(sass.listing(DOUBLIFY, "nvrtc"), sass.listing(DOUBLIFY, "pycuda"))
    ((left, right),) = [pair for pair in found.pairs if pair[0] != pair[1]]
    assert left is not None and right is not None and left.replace(".FTZ", "") == right
    assert found.differences == 1
    marked = [line for line in str(found).splitlines() if " | " in line]
    assert len(marked) == 1 and "FADD.FTZ" in marked[0].split(" | ")[0]


def test_a_diff_shows_what_only_one_side_has() -> None:
    lines = sass.listing(DOUBLIFY, "nvcc")
    assert sass.diff(lines, lines).differences == 0
    shorter = sass.diff(lines, lines[:-1])
    assert shorter.pairs[-1] == ("EXIT", None) and str(shorter).endswith("<")
    assert str(sass.diff(lines[:-1], lines)).endswith("> EXIT")


def test_other_registers_are_no_difference_when_renamed() -> None:
    def lines(*texts: str) -> list[Instruction]:
        return [Instruction("k", 16 * i, "", *text.split(" ", 1)) for i, text in enumerate(texts)]

    a = lines("LDG.E R0, desc[UR6][R2.64]", "FADD R5, R0, RZ", "ISETP.GE.AND P0, PT, R5, UR6, PT")
    b = lines("LDG.E R8, desc[UR4][R6.64]", "FADD R0, R8, RZ", "ISETP.GE.AND P3, PT, R0, UR4, PT")
    other = lines("LDG.E R8, desc[UR4][R6.64]", "FADD R0, R6, RZ", "ISETP.GE.AND P3, PT, R0, UR4, PT")
    assert sass.diff(a, b).differences == 3
    assert sass.diff(a, b, rename=True).differences == 0
    assert sass.diff(a, other, rename=True).differences == 1


def explained(a: str, b: str, path: Path = DOUBLIFY, archs: tuple[str, str] = ("90", "90")) -> tuple[list[str], str]:
    """The experiments' lines and the last line."""
    text = sass.explain(sass.listing(path, a, archs[0]), sass.listing(path, b, archs[1])).splitlines()
    return [line.strip() for line in text if line.startswith("  ")], text[-1]


def test_cupy_and_pycuda_differ_by_ftz() -> None:
    tried, last = explained("nvrtc", "pycuda")
    assert last == "What makes the difference: -ftz=true"
    assert "-ftz=true: the same machine code" in tried
    assert "nvrtc for nvcc: 1 line differs" in tried, "the compiler was tried, and is not to blame"


@pytest.mark.parametrize(
    ("a", "b"),
    [("nvrtc", "nvcc"), ("pycuda", "pybind11"), ("nvrtc -lineinfo", "nvrtc"), ("nvcc -O0", "nvcc -O3")],
)
def test_ways_that_agree_need_no_experiment(a: str, b: str) -> None:
    """Nor do -lineinfo, which only adds a table of lines, and nvcc's own -O, which is for host code."""
    length = len(sass.listing(DOUBLIFY, a))
    assert explained(a, b) == ([], f"The machine code is the same: {length} instructions.")


@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        ("nvcc", "nvcc -Xptxas=-O0", "without -Xptxas=-O0"),
        ("nvrtc -Xptxas=-O1", "nvrtc", "-Xptxas=-O1"),
        pytest.param("nvcc -lineinfo", "nvcc -Xptxas=-O1", "without -Xptxas=-O1", marks=pytest.mark.long),
        pytest.param(
            "nvcc -Xptxas=-O1 -Xptxas=-v", "nvcc -Xptxas=-O3", "-Xptxas=-O1 for -Xptxas=-O3", marks=pytest.mark.long
        ),
        ("nvrtc -DFACTOR=3", "pycuda", "-ftz=true, -DFACTOR=3"),
        pytest.param("nvcc", "pybind11 -DFACTOR=3", "-ftz=true, without -DFACTOR=3", marks=pytest.mark.long),
    ],
)
def test_the_cause_is_the_smallest_change_that_suffices(a: str, b: str, cause: str) -> None:
    assert explained(a, b)[1] == f"What makes the difference: {cause}"


def test_fused_multiply_add_and_the_architecture_are_found(tmp_path: Path) -> None:
    kernel = tmp_path / "fma.cu"
    kernel.write_text('extern "C" __global__ void madd(float* x) { x[0] = x[1] * x[2] + x[3]; }')
    tried, last = explained("nvcc", "nvcc --fmad=false", kernel)
    assert tried == ["without --fmad=false: the same machine code"], "what both have is not tried"
    assert last == "What makes the difference: without --fmad=false"
    assert explained("nvrtc", "nvrtc --fmad=false -lineinfo", kernel)[1].endswith(": without --fmad=false")
    assert explained("nvrtc", "nvrtc", kernel, ("80", "90"))[1].endswith(": sm_80 for sm_90")


def test_an_option_is_put_back_at_its_place(tmp_path: Path) -> None:
    """The first of two folders serves a header that both have."""
    kernel = tmp_path / "fill.cu"
    kernel.write_text('#include "value.cuh"\nextern "C" __global__ void fill(float *x) { x[0] = VALUE; }')
    for folder, value in (("one", "1.0f"), ("two", "2.0f")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "value.cuh").write_text(f"#define VALUE {value}\n")
    one, two = f"-I{tmp_path / 'one'}", f"-I{tmp_path / 'two'}"
    assert explained(f"nvrtc {one} {two}", f"nvrtc {two}", kernel)[1] == f"What makes the difference: {one}"


def test_pycudas_flags_come_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCUDA_DEFAULT_NVCC_FLAGS", "-ftz=true")
    assert explained("nvrtc", "pycuda")[0] == []
    assert "FADD" in {line.opcode for line in sass.listing(DOUBLIFY, "pycuda -lineinfo")}, "own options replace them"


def test_the_binding_gets_cmakes_options(root: Path, tmp_path: Path) -> None:
    cmake = shutil.which("cmake", path=sysconfig.get_path("scripts")) or shutil.which("cmake")
    if not cmake:
        pytest.skip("no cmake here")
    command = [cmake, "-S", root / "cpp", "-B", tmp_path, "-GUnix Makefiles", "-DCMAKE_CUDA_ARCHITECTURES=90-real"]
    subprocess.run([*command, f"-DPython_EXECUTABLE={sys.executable}"], check=True, capture_output=True)
    flags = (tmp_path / "CMakeFiles" / "fourways_aot.dir" / "flags.make").read_text()
    words = re.search(r"^CUDA_FLAGS = (.*)$", flags, re.MULTILINE)[1].split()  # type: ignore[index]
    kept = [word for word in words if not re.search("-Xcompiler|--generate-code|^-I", word)]
    assert tuple(kept) == ways.WAYS["pybind11"].recipe[1]


def test_entries_by_name_mangled_or_not(battery: Path) -> None:
    assert {line.entry for line in sass.listing(battery, "nvcc")} == {
        "_Z15plain_or_longerPf",
        "_Z5plainPf",
        "_Z9templatedILi3EEvPf",
        "battery",
    }
    for name, entry in (("plain", "_Z5plainPf"), ("templated", "_Z9templatedILi3EEvPf"), ("battery", "battery")):
        assert {line.entry for line in sass.listing(battery, "nvcc", entry=name)} == {entry}


@pytest.mark.parametrize("entry", ["doubly", "oublify", "double.fy"])
def test_an_unknown_entry(entry: str) -> None:
    with pytest.raises(sass.SassError, match=f"doublify.cuh has no entry point '{entry}'; there are: doublify"):
        sass.listing(DOUBLIFY, "nvrtc", entry=entry)


def test_a_file_without_kernels(tmp_path: Path) -> None:
    (tmp_path / "empty.cu").write_text("int answer = 42;\n")
    with pytest.raises(sass.SassError, match="empty.cu has no entry point; there are: none"):
        sass.listing(tmp_path / "empty.cu", "nvcc")


def test_what_the_compiler_refuses_is_in_its_words() -> None:
    with pytest.raises(building.BuildError, match="sm_33:\n.*gpu.architecture(.|\n)*\nAdvice: take one .* 75, 80"):
        sass.listing(DOUBLIFY, "pycuda", "sm_33")


def test_what_one_compiler_refuses_leaves_the_other_ways(tmp_path: Path) -> None:
    kernel = tmp_path / "prints.cu"
    kernel.write_text('#include <cstdio>\nextern "C" __global__ void k(float *x) { printf("%f", *x); }\n')
    listings, refused = sass.listings(kernel, ["nvrtc", "pycuda"], ["sm_80", "90"])
    assert [(listed.way, listed.arch) for listed in listings] == [("pycuda", "sm_80"), ("pycuda", "sm_90")]
    assert list(refused) == ["nvrtc sm_80", "nvrtc sm_90"]
    note = sass.table(json.loads(json.dumps(sass.counts(listings, refused).rows))).note
    assert (
        'nvrtc sm_80, nvrtc sm_90: refused: prints.cu(1): catastrophic error: cannot open source file "cstdio"' in note
    )
    with pytest.raises(building.BuildError, match="^NVRTC could not compile prints.cu"):
        sass.listings(kernel, ["nvrtc"])


def test_the_table_says_how_each_was_made() -> None:
    note = sass.counts([sass.listing(DOUBLIFY, way) for way in ("pycuda", "nvcc -DFACTOR=3")]).note
    assert note.splitlines() == ["pycuda: made by nvcc", "nvcc -DFACTOR=3: made by nvcc -ftz=true -DFACTOR=3"]


def test_a_way_without_machine_code() -> None:
    for way in ("host", "", "opencl -O3"):
        with pytest.raises(ValueError, match="there are: nvrtc, nvcc, pycuda, pybind11"):
            sass.listing(DOUBLIFY, way)


def test_the_command_compiles_each_way_once(monkeypatch: pytest.MonkeyPatch) -> None:
    real, built = building.build, []

    def build(path: Path, compiler: str, arch: str, **more: Any) -> building.Build:
        built.append([compiler, arch, *more["options"]])
        return real(path, compiler, arch, **more)

    monkeypatch.setattr(building, "build", build)
    done = CliRunner().invoke(cli.app, ["sass", "1", "-w", "nvcc -DFACTOR=3", "-w", "nvcc"])
    assert done.exit_code == 0 and "What makes the difference: -DFACTOR=3" in done.stdout
    first, second = ["nvcc", "sm_90", "-ftz=true", "-DFACTOR=3"], ["nvcc", "sm_90", "-ftz=true"]
    assert built == [first, second, first], "the third is the experiment: the second way, one option more"
