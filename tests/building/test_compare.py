"""NVRTC and nvcc side by side: a row for each build, refusals in place of numbers, and one entry point's needs."""

from pathlib import Path

import pytest

from fourways import building, kernels, tables


def test_a_row_for_each_compiler_and_architecture() -> None:
    rows = building.rows(kernels.path("doublify"), ["sm_75", "sm_90"])
    assert [(row["compiler"], row["arch"]) for row in rows] == [
        (compiler, arch) for compiler in ("nvrtc", "nvcc") for arch in ("sm_75", "sm_90")
    ]
    shown = building.table(rows).cells()
    for row, cells in zip(rows, shown, strict=True):
        built = building.build(kernels.path("doublify"), row["compiler"], row["arch"])
        assert (row["registers"], row["spill_bytes"], row["cubin_bytes"]) == (
            built.resources["doublify"].registers,
            0,
            len(built.code),
        )
        assert row["seconds"]["samples"] == 3 and not row["not_built"]
        assert cells[2:] == [
            tables.seconds(row["seconds"]["median"]),
            str(built.resources["doublify"].registers),
            "0",
            f"{len(built.code):,}",
        ]


def test_what_one_compiler_refuses_the_other_still_builds_with_the_options(tmp_path: Path) -> None:
    kernel = tmp_path / "prints.cu"
    kernel.write_text('#include <cstdio>\nextern "C" __global__ void k(float *x) { printf("%f", x[SIZE]); }\n')
    rows = building.rows(kernel, ["sm_80"], options=["-DSIZE=512"])
    assert [bool(row["not_built"]) for row in rows] == [True, False]
    assert rows[0]["seconds"] is rows[0]["registers"] is rows[0]["cubin_bytes"] is None
    shown = building.table(rows)
    assert shown.cells()[0] == ["nvrtc", "sm_80", "not built", "", "", ""]
    assert "prints.cu, nvrtc: prints.cu(1): catastrophic error: cannot open source file" in str(shown.note)
    assert 'identifier "SIZE" is undefined' in building.rows(kernel)[1]["not_built"]


def test_one_entry_point_or_the_largest(tmp_path: Path) -> None:
    """An entry point is named as it is written, although C++ mangles one of the two."""
    kernel = tmp_path / "two.cu"
    kernel.write_text("""
        __global__ void light(float *x) { *x = 1; }
        extern "C" __global__ void heavy(float *x, float *y) { y[0] = sinf(x[0]) / x[1]; }
    """)
    heavy, light, largest = (building.rows(kernel, entry=entry)[0] for entry in ("heavy", "light", None))
    assert heavy["registers"] == largest["registers"] > light["registers"] > 0
    with pytest.raises(building.BuildError, match=r"two.cu has no entry point 'ght'; there are: .*heavy"):
        building.rows(kernel, entry="ght")
