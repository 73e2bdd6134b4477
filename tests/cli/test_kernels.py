"""`fourways build`, `fourways sass` and `fourways link`, whose work needs no GPU."""

import json
from pathlib import Path

import pytest
from commands import fourways, said

from fourways import linking, toolchain


@pytest.fixture
def kept(tmp_path: Path) -> tuple[str, Path, str, Path]:
    """The words that ask for both files."""
    return "--json", tmp_path / "rows.json", "--figure", tmp_path / "figure.svg"


def test_build(kept: tuple[str, Path, str, Path]) -> None:
    done = fourways("build", "1", "-c", "nvrtc", "-c", "nvcc", "--arch", "75", "--arch", "sm_90", *kept)
    assert done.exit_code == 0 and "runs on" in " ".join(done.stdout.split())
    content = json.loads(kept[1].read_text())
    assert [row["arch"] for row in content["tables"]["build"]] == ["sm_75", "sm_90"] * 2 + ["2 + PTX"]
    assert set(content["tables"]) == {"build", "runs_on"} and content["stamp"]["nvcc"]
    assert "Building doublify.cuh" in kept[3].read_text()
    assert "compiler sm_75" in " ".join(done.stdout.split()), "several architectures side by side"


@pytest.mark.parametrize(
    "words, told",
    [
        (("1", "--arch", "999"), "Advice: take one that the compiler knows"),
        (("1", "--entry", "other", "-c", "nvrtc"), "no entry point 'other'; there are: doublify"),
        (("BROKEN",), 'identifier "y" is undefined'),
        (("no.cu",), "no file no.cu"),
    ],
)
def test_a_build_that_fails_leaves_nothing(
    words: tuple[str, ...], told: str, kept: tuple[str, Path, str, Path], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.cu"
    broken.write_text('extern "C" __global__ void f(float *x) { x[0] = y; }')
    done = fourways("build", *(broken if word == "BROKEN" else word for word in words), *kept)
    assert done.exit_code == 1 and told in said(done)
    assert list(tmp_path.iterdir()) == [broken]


def test_sass_counts_lists_and_compares(kept: tuple[str, Path, str, Path]) -> None:
    counted = fourways("sass", "1", "-a", "75", *kept)
    assert counted.exit_code == 0 and "sm_75" in counted.stdout and "constant" in counted.stdout
    assert json.loads(kept[1].read_text())["tables"]["sass"][0]["kind"] == "all"
    assert "doublify.cuh: instructions by kind" in kept[3].read_text()
    listed = fourways("sass", "1", "-w", "nvrtc")
    assert "STG.E" in listed.stdout and "EXIT" in listed.stdout
    compared = fourways("sass", "3", "-w", "pycuda", "-w", "pycuda --fmad=false")
    assert compared.exit_code == 0 and "--fmad=false" in compared.stdout


def test_equal_machine_code_is_not_listed() -> None:
    done = fourways("sass", "1", "-w", "nvrtc", "-w", "nvcc")
    assert "The machine code is the same: " in done.stdout and "STG.E" not in done.stdout
    renamed = fourways("sass", "1", "-w", "nvrtc", "-w", "nvcc", "--rename")
    assert renamed.stdout.startswith("With registers renamed, the machine code is the same.")


def test_what_one_compiler_refuses_fails_nothing(tmp_path: Path) -> None:
    kernel = tmp_path / "prints.cu"
    kernel.write_text('#include <cstdio>\nextern "C" __global__ void k(float *x) { printf("%f", *x); }\n')
    built = fourways("build", kernel, "-c", "nvrtc", "-c", "nvcc")
    assert built.exit_code == 0 and "not built" in built.stdout and "nvrtc: not built: refused: " in built.stdout
    counted = fourways("sass", kernel, "-w", "nvrtc", "-w", "nvcc")
    assert counted.exit_code == 0 and "nvrtc sm_90: refused: " in counted.stdout
    assert "EXIT" not in counted.stdout, "nobody asked for the other's listing alone"
    for command, option in (("build", "-c"), ("sass", "-w")):
        assert fourways(command, kernel, option, "nvrtc").exit_code == 1


def test_sass_refuses_an_unknown_way() -> None:
    done = fourways("sass", "1", "-w", "opencl -O3")
    assert done.exit_code == 2 and "--way: no way 'opencl' that makes machine code" in said(done)


@pytest.mark.long
def test_link(kept: tuple[str, Path, str, Path]) -> None:
    done = fourways("link", "--elements", "1000", *kept)
    assert done.exit_code == 0 and "inlined" in done.stdout and "left" in done.stdout
    rows = json.loads(kept[1].read_text())["tables"]["link"]
    assert [row["build"] for row in rows] == list(linking.BUILDS)
    assert "apply_transform, linked in 5 builds" in kept[3].read_text()
    assert "sm_75" in fourways("link", "--arch", "75", "--arch", "90", "--build", "one source").stdout


def test_link_takes_a_lessons_kernel_by_its_number() -> None:
    done = fourways("link", "1", "--entry", "doublify", "--arch", "90", "--build", "one source")
    assert done.exit_code == 0 and "doublify for sm_90" in " ".join(done.stdout.split())


def test_link_says_what_went_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "gpus", list)
    done = fourways("link", "--device", "7")
    assert done.exit_code == 2 and "--device: no CUDA device 7 here; there are: none" in said(done)
    alone = tmp_path / "alone.cu"
    alone.write_text('extern "C" __device__ float f(float x);\nextern "C" __global__ void k(float *y) { *y = f(*y); }')
    done = fourways("link", alone, "--entry", "k", "--build", "LTO-IR, nvJitLink")
    assert done.exit_code == 1 and "Unresolved extern function 'f'" in said(done)


def test_link_keeps_what_did_build(tmp_path: Path, kept: tuple[str, Path, str, Path]) -> None:
    """Two units may each have a `static` of one name; one source may not."""
    hidden = "static __device__ float hidden(float x) { return x; }\n"
    units = [
        hidden + 'extern "C" __device__ float f(float x);\nextern "C" __global__ void k(float *y) { *y = f(*y); }\n',
        hidden + 'extern "C" __device__ float f(float x) { return hidden(x); }\n',
    ]
    builds = "--build", "one source", "-b", "PTX, nvJitLink"
    done = fourways("link", *units, "--entry", "k", "--arch", "90", *builds, *kept)
    assert done.exit_code == 1 and "one source, sm_90: " in said(done)
    one_source, ptx = json.loads(kept[1].read_text())["tables"]["link"]
    assert "already been defined" in one_source["error"] and ptx["calls"] == 1
    assert "k, linked in 2 builds" in kept[3].read_text()


def test_link_refuses_an_unknown_build() -> None:
    done = fourways("link", "--build", "LTO")
    assert done.exit_code == 2 and "--build: 'LTO'; choose from one source, PTX, nvJitLink" in said(done)


def test_a_signature_with_its_rows(tmp_path: Path) -> None:
    mine, rows = tmp_path / "mine.cu", tmp_path / "rows.json"
    mine.write_text("using real = double;\ntemplate <class T> __global__ void scale(T *a, real by, int) {}\n")
    done = fourways("signature", mine, "--entry", "scale<float>", "--json", rows)
    assert done.exit_code == 0 and "scale<float>(float *a, double by, int argument 3)" in done.stdout
    found = json.loads(rows.read_text())["tables"]["signature"]
    assert [(row["kind"], row["dtype"]) for row in found] == [
        ("output", "float32"),
        ("scalar", "float64"),
        ("scalar", "int32"),
    ]
    refused = fourways("signature", mine)
    assert refused.exit_code != 0
