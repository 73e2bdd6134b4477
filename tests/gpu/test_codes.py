"""On a GPU: the driver starts the codes that `toolchain.runs_on` names, and refuses the others."""

from pathlib import Path

import cupy as cp
import pytest

from fourways import building, kernels, toolchain

CODES = ("sm_75", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_120", "compute_75", "compute_90a")


@pytest.mark.parametrize("code", CODES)
def test_the_driver_starts_what_the_rule_says(code: str, tmp_path: Path) -> None:
    kind, number = code.split("_")
    form = "ptx" if kind == "compute" else "cubin"
    (tmp_path / code).write_bytes(building.build(kernels.path("stencil"), "nvrtc", number, form).code)
    try:
        starts = cp.RawModule(path=str(tmp_path / code)).get_function("stencil").num_regs > 0
    except cp.cuda.driver.CUDADriverError:
        starts = False
    assert starts == toolchain.runs_on([code], toolchain.gpus()[0].arch)
