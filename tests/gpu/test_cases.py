"""The kernels of tests/cases on a GPU: right in all five ways; some are timed, profiled and recorded."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from fourways import checking, measuring, nsight, toolchain
from fourways.case import Case
from fourways.ways import WAYS

pytestmark = pytest.mark.xdist_group("cases")  # one worker builds all ways, with all cores

FOLDER = Path(__file__).parents[1] / "cases"
NAMES = sorted(path.stem for path in FOLDER.glob("*.cu"))
SIZES = (0, 1, 33, 257, 1009, 65_537)
CANNOT: dict[str, dict[str, str]] = {}
"""By kernel: the ways that cannot run it, each with its reason."""
BUILD = "import sys; from fourways.case import Case; Case.load(sys.argv[1], case=sys.argv[2]).ways()"
COPY = """extern "C" __global__ void copy(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
"""
CASE = """import numpy as np
def make_inputs(size): return (np.ones(size, np.float32),)
def reference(x): return x
"""


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for each case, in which a process of its own has built all ways: bindings take seconds, one by one."""
    folder = tmp_path_factory.mktemp("caches")

    def build(name: str) -> None:  # what fails fails again in the test, and in words
        words = [sys.executable, "-c", BUILD, str(FOLDER / f"{name}.cu"), str(FOLDER / f"{name}.py")]
        own = {"FOURWAYS_CACHE_DIR": str(folder / name)}
        subprocess.run(words, env=toolchain.child_environment() | own, capture_output=True, timeout=400)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(build, NAMES))
    return folder


@pytest.fixture
def case_of(caches: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Case]:
    def find(name: str) -> Case:
        monkeypatch.setenv("FOURWAYS_CACHE_DIR", str(caches / name))
        return Case.load(FOLDER / f"{name}.cu", case=FOLDER / f"{name}.py")

    return find


def copies(folder: Path, kernel: str = COPY) -> Case:
    """A kernel that should copy, with its case."""
    (folder / "copy.cu").write_text(kernel)
    (folder / "case.py").write_text(CASE)
    return Case.load(folder / "copy.cu", case=folder / "case.py")


def fourways(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fourways", *map(str, words)]
    return subprocess.run(command, env=toolchain.child_environment(), capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("name", NAMES)
def test_every_way_is_right(name: str, case_of: Callable[[str], Case]) -> None:
    case, cannot = case_of(name), CANNOT.get(name, {})
    ways = case.ways([way for way in WAYS if way not in cannot])
    assert not ways.missing
    outcomes = {row["way"]: row["outcome"] for row in checking.check(ways, case.sizes or SIZES).rows}
    assert outcomes == {way: "right" for way in WAYS if way not in cannot}


def test_without_a_case_the_host_way_judges_the_others(tmp_path: Path) -> None:
    copies(tmp_path)
    case = Case.load(tmp_path / "copy.cu")
    ways = case.ways(["nvrtc", "pycuda", "host"])
    assert [row["outcome"] for row in checking.check(ways).rows][:3] == ["right"] * 3
    assert case.compared_with.startswith("Checked against the host way")


def test_a_template_s_instance(tmp_path: Path) -> None:
    (tmp_path / "copy.cu").write_text(COPY.replace('extern "C"', "template <class T>").replace("float", "T"))
    (tmp_path / "case.py").write_text(CASE)
    ways = Case.load(tmp_path / "copy.cu", "copy<float>", tmp_path / "case.py").ways()
    assert list(ways.functions) == ["nvrtc", "pybind11", "host"]
    checking.check(ways, SIZES)


@pytest.mark.parametrize("name", ["axpy", "softclip"])
def test_the_ways_are_timed_side_by_side(name: str, case_of: Callable[[str], Case]) -> None:
    """The one in place begins each sample as its input."""
    rows = {row["way"]: row for row in measuring.compare(case_of(name).ways(), 2**20).rows}
    assert rows.keys() == {*WAYS, "device copy"}
    for way in ("nvrtc", "nvcc", "pycuda", "pybind11"):
        row = rows[way]
        assert (row["clock"], row["size"], row["bytes"]) == ("device", 2**20, 3 * 4 * 2**20)
        assert row["seconds"]["samples"] >= 20 and row["launch_seconds"]["samples"] == 20
    assert rows["nvrtc"]["graph_seconds"]


def test_first_results_of_a_kernel_with_a_struct(case_of: Callable[[str], Case]) -> None:
    """In fresh processes, without this package: what PyCUDA is handed is packed by the cell itself."""
    table = measuring.first_results(case_of("softclip"), ["nvrtc", "pycuda", "pybind11"])
    assert [(row["way"], row["state"]) for row in table.rows] == [
        (way, state) for way in ("nvrtc", "pycuda", "pybind11") for state in ("cold", "warm")
    ]
    assert all(row["stages"]["build"] > 0 for row in table.rows)
    assert table.rows[-1]["stages"]["load"] > 0, "of the package, which is imported"


@pytest.mark.parametrize("way", ["nvrtc", "pycuda", "pybind11"])
def test_a_write_beyond_the_output_is_seen(way: str, tmp_path: Path) -> None:
    ways = copies(tmp_path, COPY.replace("i < n", "i <= n").replace("x[i]", "1")).ways([way])
    said = rf"copy_{way}, size 7: wrote outside the output array y: element (\d) of \1"
    with pytest.raises(checking.CheckFailure, match=said):
        checking.check(ways, [7])  # an array without elements has no address to write behind


def test_a_kernel_that_hangs_ends_the_process(tmp_path: Path) -> None:
    """x[0] is 1 for ever, and only a reader who must look each time does not know."""
    loop = "while (*(volatile const float *)x == 1)\n        ;\n    if (i < n)"
    case = copies(tmp_path, COPY.replace("if (i < n)", loop))
    done = fourways("check", case.path, "--case", str(case.file), "--way", "nvrtc", "--timeout", "3")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "copy_nvrtc, size 1: the kernel has not come to its end in 3 s; is there a loop?" in done.stderr


@pytest.mark.parametrize("way", ["nvrtc", "pybind11"])
def test_a_profile_by_the_command(way: str, case_of: Callable[[str], Case], tmp_path: Path) -> None:
    try:
        nsight.require_ncu(way)
    except nsight.NoCountersError as error:
        pytest.skip(str(error))
    case = case_of("softclip")
    words = ["--case", str(case.file), "--way", way, "--size", "2^20", "--clocks", "none"]
    done = fourways("profile", case.path, *words, "--json", tmp_path / "rows.json")
    if "ERR_NVGPUCTRPERM" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    tables = json.loads((tmp_path / "rows.json").read_text())["tables"]
    assert any("softclip" in str(row.get("kernel")) for rows in tables.values() for row in rows)


@pytest.mark.parametrize(("name", "way"), [("axpy", "pycuda"), ("softclip", "pybind11")])
def test_a_timeline_by_the_command(name: str, way: str, case_of: Callable[[str], Case], tmp_path: Path) -> None:
    case = case_of(name)
    words = ["--case", str(case.file), "--way", way, "--size", "2^20", "--json", tmp_path / "rows.json"]
    done = fourways("timeline", case.path, *words)
    assert done.returncode == 0, done.stderr
    tables = json.loads((tmp_path / "rows.json").read_text())["tables"]
    assert any(name in str(row.get("name")) for rows in tables.values() for row in rows)


def test_arrays_of_structs_stay_in_one_piece(case_of: Callable[[str], Case]) -> None:
    case = case_of("drift")
    particles = checking.place("gpu", case.make_inputs(5)[1])
    np.testing.assert_array_equal(checking.fetch(particles), case.make_inputs(5)[1])
