"""What lesson 00 measures."""

import pytest

from fourways import kernels
from fourways.experiments import edit_loop


def test_an_edit_changes_the_copy_and_not_the_clone() -> None:
    before, bench = kernels.source("doublify"), edit_loop.Workbench()
    assert bench.factor == 2
    bench.edit()
    assert bench.factor != 2 and bench.kernel_file.read_text() != before == kernels.source("doublify")


def test_the_times_of_a_rebuild_come_from_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ninja's log begins with the first build; what counts is the last line of each step."""
    bench = edit_loop.Workbench()

    def rebuild() -> float:
        log = bench.kernel_file.parents[2] / "build" / ".ninja_log"
        log.parent.mkdir(exist_ok=True)
        log.write_text("# ninja log v7\n1\t900\t17\tx/doublify.cu.o\tab\n1\t620\t18\tx/doublify.cu.o\tab\n"
                       "620\t667\t19\tfourways_aot.so\tcd\n")  # fmt: skip
        return 0.75

    monkeypatch.setattr(bench, "rebuild", rebuild)
    monkeypatch.setattr(edit_loop, "SAMPLES", 1)
    rows = {row["compiler"]: row["seconds"]["median"] for row in bench.compile_edits().rows}
    assert rows["CMake"] == 0.75
    assert rows["CMake: nvcc"] == pytest.approx(0.619) and rows["CMake: linker"] == pytest.approx(0.047)
    assert 0 < rows["NVRTC"] < rows["nvcc"]
