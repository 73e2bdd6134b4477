"""What a kernel needs, as ptxas says, of the right function."""

from pathlib import Path

import pytest

from fourways import building

HUNGRY = Path(__file__).with_name("hungry.cu")


@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_shared_memory_and_spills_where_the_registers_do_not_suffice(compiler: str) -> None:
    free = building.build(HUNGRY, compiler)
    tight = building.build(HUNGRY, compiler, options=["-maxrregcount=24"])
    assert tight.resources["hungry"].registers <= 24 < free.resources["hungry"].registers
    spilling, whole = tight.resources["hungry"], free.resources["hungry"]
    assert spilling.shared_bytes == whole.shared_bytes == 1024
    assert spilling.spill_bytes >= spilling.stack_bytes > 0 == whole.spill_bytes == whole.stack_bytes
