"""What compilers say of lesson 03's kernels, and CuPy's accelerators."""

from typing import Any

import pytest

from fourways import fresh_process
from fourways.experiments import sums


def test_refusals_name_the_first_error_of_each_compiler() -> None:
    kernel = 'extern "C" __global__ void mine(int *y) { *y = 1; }'
    fine, header = sums.refusals({"fine": kernel, "a header": "#include <vector>\n" + kernel}).rows
    assert (fine["nvrtc"], fine["nvcc"]) == ("compiles", "compiles")
    assert header["nvcc"] == "compiles" and "vector" in header["nvrtc"]


def test_builds_have_a_row_for_each_compiler() -> None:
    rows = sums.builds({"mine": 'extern "C" __global__ void mine(int *y) { *y = 1; }'}).rows
    assert [(row["kernel"], row["compiler"]) for row in rows] == [("mine", "nvrtc"), ("mine", "nvcc")]
    assert all(row["seconds"]["samples"] == 3 and row["registers"] > 0 for row in rows)


def test_the_users_accelerators_do_not_reach_the_row_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUPY_ACCELERATORS", "cutensor")
    settings = []

    def answer(program: str, environment: dict[str, str]) -> dict[str, Any]:
        settings.append(environment.get("CUPY_ACCELERATORS"))
        return {"one_sum_seconds": 1e-3}

    monkeypatch.setattr(fresh_process, "answer", answer)
    table = sums.accelerators()
    assert settings == [None, ""]
    assert table.cells() == [["not set", "device", "1.00 ms"], ['""', "device", "1.00 ms"]]
