"""List the machine code that CuPy's `RawModule` gets of a kernel, and compare two listings."""

import difflib
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from fourways import building
from fourways.sass.disassembly import Instruction, disassemble, parse
from fourways.ways import WAYS

_REGISTER = re.compile(r"\b(U?[RP]|B)(\d+)\b")


def listing(path: Path | str, way: str = "nvrtc", options: Sequence[str] = ()) -> list[Instruction]:
    """Return the machine code for sm_90 of the kernel file `path`, by the way "nvrtc" or "nvcc".

    The compiler gets the options that CuPy's `RawModule` adds, then `options`.
    Raises BuildError if the compiler refuses the kernel, SassError without a disassembler.
    """
    built = building.build(path, way, options=[*WAYS[way].added_options, *options])
    return parse(disassemble(built.code))


def differing(a: Sequence[Instruction], b: Sequence[Instruction]) -> int:
    """Count the lines that differ between two listings. A line that only one of them has differs, too.

    Addresses do not count, and neither does the choice of registers: each listing's registers are numbered in order of
    appearance.
    """
    changes = difflib.SequenceMatcher(None, _renamed(a), _renamed(b), autojunk=False).get_opcodes()
    return sum(max(j - i, m - k) for what, i, j, k, m in changes if what != "equal")


def _renamed(lines: Sequence[Instruction]) -> list[str]:
    numbers: dict[str, dict[str, int]] = defaultdict(dict)

    def by_appearance(match: re.Match[str]) -> str:
        seen = numbers[match[1]]
        return f"{match[1]}{seen.setdefault(match[2], len(seen))}"

    return [_REGISTER.sub(by_appearance, str(line)) for line in lines]
