"""`fourways build`, `fourways link` and `fourways package`, whose work needs no GPU."""

import json
from pathlib import Path

import pytest
from commands import fourways, said


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


@pytest.mark.parametrize(
    "words, told",
    [
        (("1", "--arch", "999"), "not built: doublify.cuh"),
        (("1", "--entry", "other"), "no entry point 'other'; there are: doublify"),
        (("no.cu",), "no file no.cu"),
        (("textures",), "textures has no kernel of its own"),
    ],
)
def test_a_build_that_fails_says_why(words: tuple[str, ...], told: str) -> None:
    done = fourways("build", *words)
    assert told in said(done) and done.exit_code == 1


@pytest.mark.long
def test_link(tmp_path: Path) -> None:
    done = fourways("link", "--arch", "75", "--arch", "90", "--json", tmp_path / "rows.json")
    assert done.exit_code == 0 and "nvlink --arch=sm_75" in done.stdout, done.exception
    rows = json.loads((tmp_path / "rows.json").read_text())["tables"]["linking"]
    assert [row["form"] for row in rows] == ["PTX", "cubin", "LTO-IR", "nvcc -rdc=true", "nvcc -dlto"] * 2
    assert [row["calls"] for row in rows if row["arch"] == "sm_90"] == [64, 64, 0, 64, 0]


def test_build_takes_the_options_of_a_case(tmp_path: Path) -> None:
    mine, case, rows = tmp_path / "mine.cu", tmp_path / "case.py", tmp_path / "rows.json"
    mine.write_text("template <class T> __global__ void mine(const T *x, T *y) { y[0] = x[0] * Y; }")
    case.write_text(
        "import numpy as np\noptions, kernel = ('-DY=2',), 'mine<float>'\n"
        "arguments = lambda size: {'x': np.ones(1, 'f4'), 'y': None}\nreference = lambda x: {'y': 2 * x}\n"
    )
    assert fourways("build", mine).exit_code == 1
    done = fourways("build", mine, "--case", case, "--json", rows)
    assert done.exit_code == 0, said(done)
    assert {row["entry"] for row in json.loads(rows.read_text())["tables"]["build"]} == {"mine"}


def test_link_says_what_went_wrong(tmp_path: Path) -> None:
    alone = tmp_path / "alone.cu"
    alone.write_text('extern "C" __device__ float f(float x);\nextern "C" __global__ void k(float *y) { *y = f(*y); }')
    done = fourways("link", alone, "--entry", "k")
    assert done.exit_code == 1 and "'f'" in said(done)
    assert "no file no.cu" in said(fourways("link", "no.cu"))


@pytest.fixture
def inputs(root: Path) -> Path:
    return root / "tests" / "project"


def test_it_prints_what_it_wrote_and_how_to_go_on(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = fourways("package", inputs / "lift.cu", "lift", "--case", inputs / "lift_case.py")
    assert done.exit_code == 0, said(done)
    written = sorted(str(path) for path in Path("lift").rglob("*") if path.is_file())
    assert done.stdout.splitlines()[: len(written)] == written
    assert "\npip install './lift[test]' && pytest ./lift\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("lift.cu", "there", "--case", "lift_case.py"), 2, "there is there already: delete it, or name another"),
        (("lift.cu", "json", "--case", "lift_case.py"), 2, "'json' cannot be one: name another folder"),
        (("lift.cu", "no/lift", "--case", "lift_case.py"), 2, "make it first"),
        (("lift.cu", "lift", "--case", "sift_case.py"), 1, "sift_case.py: "),
    ],
)
def test_bad_input_is_refused_and_leaves_nothing(
    words: tuple[str, ...], code: int, told: str, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there").mkdir()
    done = fourways("package", *(inputs / word if word.endswith((".cu", ".py")) else word for word in words))
    assert (done.exit_code, told in " ".join(said(done).split())) == (code, True), said(done)
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]
