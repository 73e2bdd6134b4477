"""`fourways build`, `fourways signature` and `fourways link`, whose work needs no GPU."""

import json
from pathlib import Path

import pytest
from commands import fourways, said

from fourways import link_builds, toolchain


@pytest.fixture
def kept(tmp_path: Path) -> tuple[str, Path, str, Path]:
    """The words that ask for both files."""
    return "--json", tmp_path / "rows.json", "--figure", tmp_path / "figure.svg"


def test_build_takes_several_files_and_architectures(tmp_path: Path) -> None:
    """A file that no compiler builds has its rows, too, and then the command fails."""
    rows, mine, broken = tmp_path / "rows.json", tmp_path / "mine.cu", tmp_path / "broken.cu"
    mine.write_text('extern "C" __global__ void mine(float *x) { x[0] = Y; }')
    broken.write_text('extern "C" __global__ void broken(float *x) { x[0] = z; }')
    words = ("--arch", "75", "--arch", "sm_90", "-o", "-DY=1", "--json", rows)
    done = fourways("build", "1", mine, *words)
    assert done.exit_code == 0
    found = json.loads(rows.read_text())["tables"]["build"]
    assert [row["kernel"] for row in found] == ["doublify.cuh"] * 4 + ["mine.cu"] * 4
    assert [row["arch"] for row in found] == ["sm_75", "sm_90"] * 4
    done = fourways("build", mine, broken, *words)
    assert done.exit_code == 1 and said(done).endswith("not built: broken.cu")
    assert 'identifier "z" is undefined' in " ".join(done.stdout.split())
    assert len(json.loads(rows.read_text())["tables"]["build"]) == 8


def test_build_takes_the_options_of_a_case(tmp_path: Path) -> None:
    mine, case, rows = tmp_path / "mine.cu", tmp_path / "case.py", tmp_path / "rows.json"
    mine.write_text('extern "C" __global__ void mine(const float *x, float *y, int n) { y[0] = x[0] * Y; }')
    case.write_text("import numpy as np\noptions = ('-DY=2',)\ndef make_inputs(size): return np.ones(size, 'f4')\n")
    assert fourways("build", mine).exit_code == 1
    done = fourways("build", mine, "--case", case, "--json", rows)
    assert done.exit_code == 0, said(done)
    assert {row["entry"] for row in json.loads(rows.read_text())["tables"]["build"]} == {"mine"}


@pytest.mark.parametrize(
    "words, told",
    [
        (("1", "--arch", "999"), "not built: doublify.cuh"),
        (("1", "--entry", "other"), "no entry point 'other'; there are: doublify"),
        (("no.cu",), "no file no.cu"),
    ],
)
def test_a_build_that_fails_says_why(words: tuple[str, ...], told: str) -> None:
    done = fourways("build", *words)
    assert told in said(done) and done.exit_code == 1


@pytest.mark.long
def test_link(kept: tuple[str, Path, str, Path]) -> None:
    done = fourways("link", "--elements", "1000", *kept)
    assert done.exit_code == 0 and "inlined" in done.stdout and "left" in done.stdout
    rows = json.loads(kept[1].read_text())["tables"]["link"]
    assert [row["build"] for row in rows] == list(link_builds.BUILDS)
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
