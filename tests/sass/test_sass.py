"""Machine code read, counted and compared without a GPU; the flag to blame is found by building, not by guessing."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fourways import building, cli, figures, instructions, kernels, lesson, opcodes, sass, toolchain

DOUBLIFY = kernels.path("doublify")
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


MORE = r"""
#include <cuda_fp16.h>
#include <mma.h>
extern "C" __global__ void halves(__half2* x, float2* y) { y[0] = __half22float2(__hfma2(x[0], x[1], x[2])); }
extern "C" __global__ void maths(float* x, double* d, long long* k, unsigned* u, int n)
{
    x[0] = sinf(x[1]) + expf(x[2]) / sqrtf(x[3]);
    d[0] = sqrt(d[1]) / d[2] + fmax(d[3], exp(d[4]));
    k[0] = k[1] / k[2] + (long long)x[4] + __double2int_rn(d[5]);
    u[0] = __popc(u[1]) + __clz(u[2]) + __brev(u[3]) + __dp4a(u[4], u[5], u[6]) + __byte_perm(u[7], u[8], n);
    u[9] = __ballot_sync(~0u, n > u[0]) + __match_any_sync(~0u, u[1]) + __syncthreads_or(n);
    if (atomicAdd(&u[n], 1) == 7) __trap();
    atomicMax(n ? u : (unsigned*)k, 3);
    __threadfence_system();
    __nanosleep(n);
    printf("%f", x[0]);
}
extern "C" __global__ void tensor(const __half* a, const __half* b, float* c)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> left;
    fragment<matrix_b, 16, 16, 16, __half, col_major> right;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0);
    load_matrix_sync(left, a, 16);
    load_matrix_sync(right, b, 16);
    mma_sync(sum, left, right, sum);
    store_matrix_sync(c, sum, 16, mem_row_major);
}
__device__ __noinline__ int other(int* x) { return *x; }
extern "C" __global__ void generic(int* x, int n)
{
    __shared__ int s[9];
    s[threadIdx.x] = n;
    __syncthreads();
    x[2] = other(n ? s + n : x);
}
"""
# the four tables of NVIDIA's "Instruction Set Reference" together, in the tables' groups (see opcodes.py)
PUBLISHED = {
    "floating point": "FADD FADD2 FADD32I FCHK FFMA32I FFMA FFMA2 FHADD FHADD2 FHFMA FHFMA2 FHMUL2 FMNMX FMNMX3 "
    "FMUL FMUL2 FMUL32I FSEL FSET FSETP FSWZADD MUFU HADD2 HADD2_32I HFMA2 HFMA2_32I HMMA HMNMX2 HMUL2 HMUL2_32I "
    "HSET2 HSETP2 DADD DFMA DMMA DMUL DSETP OMMA QMMA",
    "integer": "BMMA BMSK BREV DECOMPRESS FLO IABS IADD IADD3 IADD32I IDP IDP4A IMAD IMMA IMNMX IMUL IMUL32I ISCADD "
    "ISCADD32I ISETP LEA LOP LOP3 LOP32I POPC SHF SHL SHR SPARSIFY VABSDIFF VABSDIFF4 VHMNMX VIADD VIADDMNMX "
    "VIMNMX VIMNMX3",
    "conversion": "F2F F2I I2F I2I I2IP I2FP F2IP FRND",
    "movement": "MOV MOV32I MOV64IUR MOVM PRMT SEL SGXT SHFL",
    "predicate": "PLOP3 PSETP P2R R2P",
    "load and store": "FENCE LD LDC LDG LDGDEPBAR LDGMC LDGSTS LDL LDS LDSM STSM ST STG STL STS STAS SYNCS SYNCSU "
    "USYNCS MATCH QSPC ATOM ATOMS ATOMG RED REDAS REDS REDG CCTL CCTLL ERRBAR MEMBAR CCTLT",
    "uniform": "CREDUX CS2UR LDCU R2UR REDUX S2UR UBMSK UBREV UCGABAR_ARV UCGABAR_WAIT UCLEA UFADD UF2F UF2FP UF2I "
    "UF2IP UFFMA UFLO UFMNMX UFMUL UFRND UFSEL UFSET UFSETP UI2F UI2FP UI2I UI2IP UIABS UIMNMX UIADD3 UIMAD "
    "UISETP ULDC ULEA ULEPC ULOP ULOP3 ULOP32I UMOV UP2UR UPLOP3 UPOPC UPRMT UPSETP UR2UP USEL USETMAXREG USGXT "
    "USHF USHL USHR UGETNEXTWORKID UMEMSETS UREDGR USTGR UVIADD UVIMNMX UVIRTCOUNT VOTEU",
    "warpgroup": "BGMMA HGMMA IGMMA QGMMA WARPGROUP WARPGROUPSET",
    "tensor memory access": "UBLKCP UBLKL2CCTL UBLKPF UBLKRED UTMACCTL UTMACMDFLUSH UTMAL2CCTL UTMALDG UTMAPF "
    "UTMAREDG UTMASTG",
    "tensor core memory": "LDT LDTM STT STTM UTCATOMSWS UTCBAR UTCCP UTCHMMA UTCIMMA UTCOMMA UTCQMMA UTCSHIFT",
    "texture": "TEX TLD TLD4 TMML TXD TXQ",
    "surface": "SUATOM SULD SURED SUST",
    "control": "ACQBULK ACQSHMINIT BMOV BPT BRA BREAK BRX BRXU BSSY BSYNC CALL CGAERRBAR ELECT ENDCOLLECTIVE EXIT "
    "JMP JMX JMXU KILL NANOSLEEP PREEXIT RET RPCMOV RTT WARPSYNC YIELD",
    "miscellaneous": "B2R BAR CS2R DEPBAR GETLMEMBASE LEPC NOP PMTRIG R2B S2R SETCTAID SETLMEMBASE VISET VOTE",
}


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    path = tmp_path / "battery.cu"
    path.write_text(BATTERY)
    return path


@pytest.mark.parametrize("name", ["1", "01_doublify", "doublify", str(DOUBLIFY)])
def test_a_kernel_is_found_by_lesson_name_or_path(name: str) -> None:
    assert lesson.kernel_file(name) == DOUBLIFY


def test_a_kernel_that_is_not_there() -> None:
    with pytest.raises(lesson.LessonError, match="no file nothing.cu: give the path"):
        lesson.kernel_file("nothing.cu")
    with pytest.raises(lesson.LessonError, match="no lesson 'nothing'; there are: 00_two_workflows"):
        lesson.kernel_file("nothing")


@pytest.mark.parametrize("way", sass.WAYS)
def test_doublify_by_every_way(way: str) -> None:
    """One load, one addition (2 * x is x + x), one store, a loop; CuPy's two ways flush denormals to zero."""
    lines = sass.listing(DOUBLIFY, way)
    assert {line.entry for line in lines} == {"doublify"}
    assert [line.base for line in lines if line.kind in ("global", "fp32")] == ["LDG", "FADD", "STG"]
    assert [line.opcode for line in lines if line.kind == "fp32"] == [
        "FADD.FTZ" if way in ("nvrtc", "nvcc") else "FADD"
    ]
    assert [str(line) for line in lines[-2:]] == ["@!P0 BRA L0", "EXIT"], "no padding at the end, labels for jumps"
    assert [line.address for line in lines] == list(range(0, 16 * len(lines), 16))


@pytest.mark.parametrize("arch", building.ARCHITECTURES)
def test_both_tools_give_the_same_instructions(battery: Path, monkeypatch: pytest.MonkeyPatch, arch: str) -> None:
    cubin = building.build(battery, "nvrtc", arch).code
    real = toolchain.program
    by_nvdisasm = building.disassemble(cubin)
    monkeypatch.setattr(toolchain, "program", lambda name: None if name == "nvdisasm" else real(name))
    by_cuobjdump = building.disassemble(cubin)
    assert by_nvdisasm != by_cuobjdump
    lines = instructions.parse(by_nvdisasm)
    assert lines == instructions.parse(by_cuobjdump)
    # nvdisasm ends every instruction with a semicolon, also the padding's
    padding = Counter(re.findall(r"\b(NOP|BRA)\b", by_nvdisasm)) - Counter(line.base for line in lines)
    assert len(re.findall(r"^\s+/\*[0-9a-f]{4}\*/.*;", by_nvdisasm, re.MULTILINE)) == len(lines) + padding.total()
    assert not any("L_" in str(line) for line in lines)


@pytest.mark.parametrize("arch", building.ARCHITECTURES)
def test_every_kind_is_counted(battery: Path, arch: str) -> None:
    table = sass.counts(battery, ["nvrtc"], [arch], "battery")
    assert {row["entry"] for row in table.rows} == {"battery"}
    found = {row["kind"]: row["counts"][f"nvrtc sm_{arch}"] for row in table.rows}
    assert found["shared"] == 2 and found["fp64"] == 1 and found["conversion"] >= 1
    assert min(found[kind] for kind in ("global", "fp32", "integer", "move", "control", "sync", "special")) > 0
    assert found.pop("all") == sum(found.values()) == len(sass.listing(battery, "nvrtc", arch, "battery"))
    assert not {"generic", "texture", "tensor", "tma"} & set(found), "a kind that does not occur has no row"


@pytest.mark.parametrize("arch", building.ARCHITECTURES)
def test_every_opcode_of_ours_has_a_kind(battery: Path, arch: str) -> None:
    (battery.parent / "more.cu").write_text(MORE)
    links = sorted((kernels.root() / "cpp" / "link").glob("*.cu"))
    kinds = set()
    for path in (
        *sorted((kernels.root() / "cpp" / "kernels").glob("*.cuh")),
        *links,
        battery,
        battery.parent / "more.cu",
    ):
        code = building.build(path, "nvrtc", arch, options=("-rdc=true",) if path in links else ()).code
        lines = instructions.parse(building.disassemble(code))
        assert lines and not {line.base for line in lines} - set(opcodes.KIND), path.name
        kinds |= {line.kind for line in lines}
    assert {"fp16", "warp", "predicate", "tensor", "generic"} <= kinds
    assert "other" not in kinds


def test_the_table_of_doublify(battery: Path) -> None:
    table = sass.counts(DOUBLIFY, archs=("sm_80", "90"))
    builds = [f"{way} {arch}" for arch in ("sm_80", "sm_90") for way in sass.WAYS]
    assert [heading for heading, _ in table.columns] == ["kind", *builds]
    assert {row["kind"]: row["counts"] for row in table.rows}["global"] == dict.fromkeys(builds, 2)
    assert [row["kind"] for row in json.loads(json.dumps(table.rows))][:2] == ["all", "global"]
    again = sass.table(json.loads(json.dumps(table.rows)))
    assert str(again) == str(table) and again.name == "sass"
    assert sass.counts(battery, ["nvcc"]).columns[0][0] == "entry", "several functions are told apart"


def test_the_figure_is_the_table(battery: Path) -> None:
    """A panel for each function; in it a bar for each build, as long as "all", in as many parts as there are kinds."""
    rows = sass.counts(battery, ["nvrtc", "nvcc"], ["sm_90"]).rows
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


def test_the_opcodes_are_the_published_ones() -> None:
    names = [opcode for group in opcodes.GROUPS.values() for opcode in group.split()]
    assert len(names) == len(set(names)) == len(opcodes.KIND), "no opcode is of two kinds"
    published = {opcode for group in PUBLISHED.values() for opcode in group.split()}
    assert set(names) - published == set(opcodes.UNPUBLISHED)
    assert published <= set(names)
    for group, kind in (("texture", "texture"), ("predicate", "predicate"), ("tensor memory access", "tma")):
        assert {opcodes.KIND[opcode] for opcode in PUBLISHED[group].split()} == {kind}


def test_opcodes_that_nobody_listed() -> None:
    assert opcodes.kind("UNEW.X") == "uniform" and opcodes.kind("NEW.X") == "other"
    assert opcodes.kind("IMAD.MOV.U32") == "integer"


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
    def lines(*texts: str) -> list[instructions.Instruction]:
        return [instructions.Instruction("k", 16 * i, "", *text.split(" ", 1)) for i, text in enumerate(texts)]

    a = lines("LDG.E R0, desc[UR6][R2.64]", "FADD R5, R0, RZ", "ISETP.GE.AND P0, PT, R5, UR6, PT")
    b = lines("LDG.E R8, desc[UR4][R6.64]", "FADD R0, R8, RZ", "ISETP.GE.AND P3, PT, R0, UR4, PT")
    other = lines("LDG.E R8, desc[UR4][R6.64]", "FADD R0, R6, RZ", "ISETP.GE.AND P3, PT, R0, UR4, PT")
    assert sass.diff(a, b).differences == 3
    assert sass.diff(a, b, rename=True).differences == 0
    assert sass.diff(a, other, rename=True).differences == 1


def explained(*arguments: str, path: Path = DOUBLIFY, **more: str) -> tuple[list[str], str]:
    """The experiments' lines and the last line."""
    text = sass.explain(path, *arguments, **more).splitlines()
    return [line.strip() for line in text if line.startswith("  ")], text[-1]


def test_cupy_and_pycuda_differ_by_ftz() -> None:
    tried, last = explained("nvrtc", "pycuda")
    assert last == "What makes the difference: -ftz=true"
    assert "-ftz=true: the same machine code" in tried
    assert "nvrtc for nvcc: 1 line differs" in tried, "the compiler was tried, and is not to blame"


def test_ways_that_agree_need_no_experiment() -> None:
    """Nor do -lineinfo, which only adds a table of lines, and nvcc's own -O, which is for host code."""
    same = (("nvrtc", "nvcc"), ("pycuda", "pybind11"), ("nvcc -lineinfo", "nvcc"), ("nvrtc -lineinfo", "nvrtc"))
    for pair in (*same, ("nvcc -O0", "nvcc -O3")):
        assert explained(*pair) == (
            [],
            f"The machine code is the same: {len(sass.listing(DOUBLIFY, pair[0]))} instructions.",
        )


@pytest.mark.parametrize(
    ("a", "b", "cause"),
    [
        ("nvcc", "nvcc -Xptxas=-O0", "without -Xptxas=-O0"),
        ("nvrtc -Xptxas=-O1", "nvrtc", "-Xptxas=-O1"),
        ("nvcc -lineinfo", "nvcc -Xptxas=-O1", "without -Xptxas=-O1"),
        ("nvcc -Xptxas=-O1 -Xptxas=-v", "nvcc -Xptxas=-O3", "-Xptxas=-O1 for -Xptxas=-O3"),
        ("nvrtc -DFACTOR=3", "pycuda", "-ftz=true, -DFACTOR=3"),
        ("nvcc", "pybind11 -DFACTOR=3", "-ftz=true, without -DFACTOR=3"),
    ],
)
def test_the_cause_is_the_smallest_change_that_suffices(a: str, b: str, cause: str) -> None:
    assert explained(a, b)[1] == f"What makes the difference: {cause}"


def test_fused_multiply_add_and_the_architecture_are_found(tmp_path: Path) -> None:
    kernel = tmp_path / "fma.cu"
    kernel.write_text('extern "C" __global__ void madd(float* x) { x[0] = x[1] * x[2] + x[3]; }')
    tried, last = explained("nvcc", "nvcc --fmad=false", path=kernel)
    assert tried == ["without --fmad=false: the same machine code"], "what both have is not tried"
    assert last == "What makes the difference: without --fmad=false"
    assert explained("nvrtc", "nvrtc --fmad=false -lineinfo", path=kernel)[1].endswith(": without --fmad=false")
    assert explained("nvrtc", "nvrtc", arch="80", arch_b="90", path=kernel)[1].endswith(": sm_80 for sm_90")


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
    kept = [word for word in words if "-Xcompiler" not in word and "--generate-code" not in word]
    assert tuple(kept) == sass.RECIPES["pybind11"][1]


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


@pytest.mark.parametrize("way", sass.WAYS)
def test_what_the_compiler_refuses_is_in_its_words(tmp_path: Path, way: str) -> None:
    (tmp_path / "broken.cu").write_text('extern "C" __global__ void broken(float* x) { x[0] = nonsense; }\n')
    with pytest.raises(building.BuildError, match='identifier "nonsense" is undefined') as refused:
        sass.explain(tmp_path / "broken.cu", way, "pycuda")
    assert str(refused.value).splitlines()[-1] == "Advice: mend the source at the line that the compiler names"
    with pytest.raises(
        building.BuildError, match="(?i)for sm_33:\n.*gpu.architecture(.|\n)*\nAdvice: take one .* 75, 80"
    ):
        sass.listing(DOUBLIFY, way, "sm_33")


def test_a_way_without_machine_code() -> None:
    for way in ("host", "", "opencl -O3"):
        with pytest.raises(ValueError, match="there are: nvrtc, nvcc, pycuda, pybind11"):
            sass.listing(DOUBLIFY, way)


def command(*arguments: object) -> tuple[int, str]:
    """The exit code of `fourways sass`, and what it says: printed, or raised for `cli.main` to print."""
    done = CliRunner().invoke(cli.app, ["sass", *map(str, arguments)])
    told = isinstance(done.exception, (RuntimeError, lesson.LessonError))
    assert done.exception is None or told or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output + (str(done.exception) if told else "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--entry", "no"), "no entry point 'no'; there are: doublify"),
        (("--arch", "33"), "Advice: take one that the compiler knows"),
        (("-w", "nvcc -Dx="), "mend the source"),
    ],
)
def test_the_command_writes_nothing_for_bad_input(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    code, said = command(DOUBLIFY, *arguments, "--figure", tmp_path / "a.svg", "--json", tmp_path / "a.json")
    assert code == 1 and words in said
    assert list(tmp_path.iterdir()) == []


def test_the_command_draws_and_writes(tmp_path: Path) -> None:
    code, said = command(1, "-w", "nvrtc", "-a", "75", "--figure", tmp_path / "a.svg", "--json", tmp_path / "a.json")
    assert code == 0 and "LDG" in said and "nvrtc sm_75" in said
    assert "doublify" in (tmp_path / "a.svg").read_text()
    assert json.loads((tmp_path / "a.json").read_text())["tables"]["sass"][0]["kind"] == "all"


def test_a_figure_that_cannot_be_written_is_refused_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sass, "counts", lambda *_: pytest.fail("compiled before the figure's name was looked at"))
    code, said = command(1, "--figure", "a.gif")
    assert code == 2 and "a .svg or a .png" in " ".join(said.split())


def test_a_quotation_without_its_end_is_a_bad_argument() -> None:
    code, said = command(1, "-w", 'nvrtc "-DA=1')
    assert code == 2 and "No closing quotation" in said
