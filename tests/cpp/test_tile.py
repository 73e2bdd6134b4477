"""The committed cubin of cuTile, which a page launches: what is in it, and that the page shows how it was made."""

import re

from fourways import kernels, lesson, toolchain

FOLDER = kernels.root() / "cpp" / "tile"


def test_the_page_shows_the_file() -> None:
    cells = lesson.find("beyond_the_four").notebook.cells
    prose = "".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert f"```python\n{(FOLDER / 'doublify.py').read_text()}```" in prose


def test_the_cubin_is_launched_as_it_wants() -> None:
    """Six parameters of eight bytes, 128 threads, tiles of 1024: what the page's cell passes."""
    cubin = FOLDER / "doublify_sm_90.cubin"
    dump = toolchain.run(str(toolchain.program("cuobjdump")), "-elf", str(cubin)).stdout
    assert "sm_90" in dump
    assert sorted(re.findall(r"Offset  : (0x\w+)\s+Size    : (0x\w+)", dump)) == [
        (hex(offset), "0x8") for offset in (0, 0x10, 0x18, 0x20, 0x28, 0x8)
    ]
    assert re.search(r"(?s)EIATTR_REQNTID.*?Value:\s+0x80 0x1 0x1", dump)
    assert "TILE = 1024" in (FOLDER / "doublify.py").read_text()
    (cell,) = lesson.find("beyond_the_four").cells("way-cutile")
    assert "(x.size + 1023) // 1024" in cell and "(128,)" in cell


def test_the_cubin_names_no_place_of_a_machine() -> None:
    text = (FOLDER / "doublify_sm_90.cubin").read_bytes()
    assert not re.search(rb"/(?:home|root|work|opt)/", text)
