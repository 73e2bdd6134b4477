"""List the machine code that CuPy's `RawModule` gets of a kernel."""

from collections.abc import Sequence
from pathlib import Path

from fourways import building
from fourways.sass.disassembly import Instruction, disassemble, parse
from fourways.ways import WAYS


def listing(path: Path | str, way: str = "nvrtc", options: Sequence[str] = ()) -> list[Instruction]:
    """Return the machine code for sm_90 of the kernel file `path`, by the way "nvrtc" or "nvcc".

    The compiler gets the options that CuPy's `RawModule` adds, then `options`.
    Raises BuildError if the compiler refuses the kernel, SassError without a disassembler.
    """
    built = building.build(path, way, options=[*WAYS[way].added_options, *options])
    return parse(disassemble(built.code))
