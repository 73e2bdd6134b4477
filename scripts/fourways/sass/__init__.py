"""Read the machine code (SASS) that each way makes of a kernel: list it, count it, compare it, find what differs.

Needs no GPU and no driver. A way may carry options of your own after its name: `"pycuda --fmad=false"`. What each way
gives its compiler, besides the architecture and include folders:

- nvrtc, nvcc: what CuPy's `RawModule` adds on its own (`recipe` of their `ways.WAYS`, as that of the others).
- pycuda: nothing, or what stands in `PYCUDA_DEFAULT_NVCC_FLAGS`.
- pybind11: what CMake gives nvcc for a Release build in C++17.
"""

from fourways.sass.compare import Diff, Listing, counts, diff, explain, figure, listing, listings, table, ways
from fourways.sass.disassembly import Instruction, SassError, disassemble, parse
from fourways.sass.opcodes import GROUPS, KINDS, UNPUBLISHED, kind
