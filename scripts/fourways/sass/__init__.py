"""Read the machine code (SASS) that each way makes of a kernel: list, count and compare instructions.

Needs no GPU and no driver. Options of your own may follow a way's name: `"pycuda --fmad=false"`. Each way gives its
compiler the architecture, the include folders, and these options (`ways.WAYS[way].recipe`):

- nvrtc, nvcc: the options that CuPy's `RawModule` adds
- pycuda: none, or those of the variable `PYCUDA_DEFAULT_NVCC_FLAGS`
- pybind11: CMake's options for a Release build in C++17
"""

from fourways.sass.compare import counts, diff, explain, figure, listing, listings, table
from fourways.sass.disassembly import SassError, disassemble, parse
from fourways.sass.opcodes import kind
