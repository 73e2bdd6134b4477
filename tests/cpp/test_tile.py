"""The committed cubins of cuTile, which lesson 12 launches: what is in them, and that it shows how they were made."""

import re

import pytest

from fourways import kernels, lesson, toolchain

FOLDER = kernels.root() / "cpp" / "tile"


def test_the_lesson_shows_the_file() -> None:
    prose = "".join(cell.source for cell in lesson.find("12").notebook.cells if cell.cell_type == "markdown")
    assert f"```python\n{(FOLDER / 'doublify.py').read_text()}```" in prose


def test_the_cubin_is_launched_as_it_wants() -> None:
    """Six parameters of eight bytes, 128 threads, tiles of 1024: what the lesson's cell passes."""
    cubin = FOLDER / "doublify_sm_90.cubin"
    dump = toolchain.run(str(toolchain.program("cuobjdump")), "-elf", str(cubin)).stdout
    assert "sm_90" in dump
    assert sorted(re.findall(r"Offset  : (0x\w+)\s+Size    : (0x\w+)", dump)) == [
        (hex(offset), "0x8") for offset in (0, 0x10, 0x18, 0x20, 0x28, 0x8)
    ]
    assert re.search(r"(?s)EIATTR_REQNTID.*?Value:\s+0x80 0x1 0x1", dump)
    assert "TILE = 1024" in (FOLDER / "doublify.py").read_text()
    (cell,) = lesson.find("12").cells("way-cutile")
    assert "(x.size + 1023) // 1024" in cell and "(128,)" in cell


def test_the_stencil_is_launched_as_it_wants() -> None:
    """Ten parameters of eight bytes, an address and two lengths and two steps for each plate; tiles of 8 by 128."""
    dump = toolchain.run(str(toolchain.program("cuobjdump")), "-elf", str(FOLDER / "stencil_sm_90.cubin")).stdout
    found = re.findall(r"Offset  : (0x\w+)\s+Size    : (0x\w+)", dump)
    assert sorted((int(offset, 16), size) for offset, size in found) == [(8 * place, "0x8") for place in range(10)]
    assert re.search(r"(?s)EIATTR_REQNTID.*?Value:\s+0x80 0x1 0x1", dump)
    assert "ROWS, COLUMNS = 8, 128" in (FOLDER / "stencil.py").read_text()
    (cell,) = (cell.source for cell in lesson.find("12").notebook.cells if "def stencil_cutile" in cell.source)
    assert "grid_of(u, 128, 8), (128,), (u, h, w, w, one, v, h, w, w, one)" in cell


@pytest.mark.parametrize("name", ["doublify", "stencil"])
def test_the_cubin_names_no_place_of_a_machine(name: str) -> None:
    text = (FOLDER / f"{name}_sm_90.cubin").read_bytes()
    assert not re.search(rb"/(?:home|root|work|opt)/", text)
