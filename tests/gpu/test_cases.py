"""The kernels of tests/cases on a GPU: right in every way; some are timed, profiled and recorded."""

import subprocess
import sys
from pathlib import Path

import pytest

from fourways import checking, own_kernel, toolchain
from fourways.own_kernel import Case

FOLDER = Path(__file__).parents[1] / "cases"
NAMES = sorted(path.stem for path in FOLDER.glob("*.cu"))
SIZES = (0, 1, 33, 257, 1009, 65_537)
COPY = Path(__file__).with_name("copy.cu").read_text(encoding="utf-8")
CASE = """import numpy as np
def arguments(size): return {"x": np.ones(size, np.float32), "y": None, "n": np.int32(size)}
def reference(x): return {"y": x}
"""


def case_of(name: str) -> Case:
    return own_kernel.read(FOLDER / f"{name}.cu", FOLDER / f"{name}.py")


def copies(folder: Path, kernel: str = COPY) -> Case:
    """A kernel that should copy, with its case."""
    (folder / "copy.cu").write_text(kernel)
    (folder / "case.py").write_text(CASE)
    return own_kernel.read(folder / "copy.cu", folder / "case.py")


def fourways(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fourways", *map(str, words)]
    return subprocess.run(command, env=toolchain.child_environment(), capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("name", NAMES)
def test_every_way_is_right(name: str) -> None:
    """Also of instances of templates and of kernels that are not extern "C", by their names in machine code."""
    case = case_of(name)
    ways = case.ways()
    assert not ways.missing
    outcomes = {row["way"]: row["outcome"] for row in checking.check(ways, case.sizes or SIZES).rows}
    assert outcomes == dict.fromkeys(own_kernel.BUILDERS, "right")


def test_a_way_that_refuses_the_kernel_is_a_row_and_the_others_go_on(tmp_path: Path) -> None:
    case = copies(tmp_path, "#include <stdint.h>\n" + COPY)
    outcomes = {row["way"]: row["outcome"] for row in checking.check(case.ways(), SIZES).rows}
    assert outcomes.pop("nvrtc").startswith("not built: nvrtc refused copy.cu")
    assert outcomes == dict.fromkeys(("nvcc", "pycuda", "host"), "right")


def test_after_an_illegal_address_no_other_file_is_blamed(tmp_path: Path) -> None:
    copies(tmp_path)
    (tmp_path / "far.cu").write_text(COPY.replace("y[i] =", "y[i + (1LL << 40)] ="))
    checked = fourways("check", tmp_path / "far.cu", tmp_path / "copy.cu", "--case", tmp_path / "case.py")
    assert checked.returncode == 1
    assert "IllegalAddress" in checked.stderr
    assert checked.stderr.rstrip().endswith(f"{tmp_path / 'copy.cu'}: not checked")  # and no complaint after it


@pytest.mark.parametrize("way", ["nvrtc", "pycuda"])
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
