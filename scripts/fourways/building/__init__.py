"""Compile one kernel by one compiler, or by all of them side by side. Needs no GPU and no driver.

- nvrtc, nvcc: the compilers themselves
- pycuda: nvcc, called as PyCUDA's `SourceModule` calls it
- cuda.core: NVRTC, called by `cuda.core.Program`
- cmake: the whole extension module `fourways_aot` with this kernel alone, or a case's package: configured, compiled,
  linked. Its cubin holds whatever else `cpp/aot/NAME.cu` calls, as CUB's own kernels

A compiler that refuses the kernel is a row that says why, and the others go on.

*cold* compiles: nothing is taken from a cache. *cached* is what a new process pays for the same build again, imports
and the GPU's context not counted: it finds the machine code in the tool's own cache, or for cmake nothing to do.
nvcc keeps no cache. NVRTC 13.0 keeps one where there is a driver, and confuses builds with and without `-ftz` in it, so
it is off here. CuPy's `RawModule` keeps one for either, and asks the GPU for its architecture, so these two times need
one. They hold what CuPy does besides: an empty file is compiled, whose output names the compiler's version, and the
machine code found goes to the driver.
"""

from fourways.building.artefacts import ALL_COMPILERS, Made, make
from fourways.building.cmake import build_binding, build_with_cmake
from fourways.building.compare import figure, matrix_table, rows, runs_on, runs_on_table, sizes_table, table
from fourways.building.compile import COMPILERS, Build, BuildError, build, is_entry
from fourways.building.packages import NotOfferedError
from fourways.building.resources import Resources, of_code
from fourways.building.signature import signature_rows, signature_table, signatures
