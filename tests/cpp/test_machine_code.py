"""What the compilers make of the kernels: wide loads, registers, shared memory, nothing spilled."""

import pytest
from machine_code import instructions

from fourways import building, kernels

# A kernel, its macros, instructions by the beginning of their names, and its bytes of shared memory.
MADE: list[tuple[str, tuple[str, ...], dict[str, int], int]] = [
    ("saxpy", ("-DVECTOR=2",), {"LDG.E.64": 2, "STG.E.64": 1, "LDG.E": 4, "STG.E": 2}, 0),
    ("saxpy", ("-DVECTOR=4",), {"LDG.E.128": 2, "STG.E.128": 1, "LDG.E": 4, "STG.E": 2}, 0),
    ("stencil", (), {"LDG.E.128": 6}, 0),  # four rows and the two around them
    ("fir", ("-DOUTPUTS=4",), {"LDG.E.128": 0}, 0),
    ("fir", ("-DOUTPUTS=4", "-DLENGTH=16"), {"LDG.E.128": 5}, 0),
    ("transpose", (), {}, 4 * 64 * 65),
    ("transpose", ("-DPAD=0",), {}, 4 * 64 * 64),
    ("transpose", ("-DTILED=0",), {}, 0),
    ("colmeans", (), {}, 512),
]


@pytest.mark.parametrize("compiler", building.COMPILERS)
@pytest.mark.parametrize(("kernel", "options", "counts", "shared"), MADE)
def test_loads_are_wide_and_nothing_spills(
    kernel: str, options: tuple[str, ...], counts: dict[str, int], shared: int, compiler: str
) -> None:
    built = building.build(kernels.path(kernel), compiler, "sm_90", options=options)
    listing = [opcode for opcode, _ in instructions(built.code)]
    assert {start: sum(code.startswith(start) for code in listing) for start in counts} == counts
    needs = built.resources[kernel]
    assert (needs.shared_bytes, needs.spill_bytes) == (shared, 0)


@pytest.mark.parametrize(
    ("kernel", "options", "most"),
    [
        *(("stencil", (f"-DROWS={rows}",), 128) for rows in (1, 4, 8)),
        ("colmeans", (), 65_536 // 2048),  # so 2048 threads fit
    ],
)
def test_numbers_stay_in_registers_and_blocks_fit(kernel: str, options: tuple[str, ...], most: int) -> None:
    """An array in local memory would be right, and several times slower."""
    resources = building.build(kernels.path(kernel), "nvrtc", "sm_90", options=options).resources[kernel]
    assert resources.stack_bytes == 0 and 0 < resources.registers <= most
