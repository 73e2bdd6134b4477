"""Compile a kernel by one compiler, or by all compilers side by side. Needs no GPU and no driver.

- nvrtc, nvcc: the compilers themselves
- pycuda: nvcc, called as PyCUDA's `SourceModule` calls it
- cuda.core: NVRTC, called by `cuda.core.Program`
- cmake: a whole extension module, configured, compiled and linked: `fourways_aot` with this kernel alone, or a case's
  package. Its cubin also holds everything else that `cpp/aot/NAME.cu` calls, such as CUB's kernels

If a compiler refuses the kernel, its row says why, and the other compilers go on.

*cold* is the time of a build without any cache. *cached* is the time of the same build in a new process, without its
imports and the GPU's context. The tool then finds the machine code in its cache, and cmake finds nothing to do.

nvcc has no cache. NVRTC 13.0 has one on machines with a driver, but confuses builds with and without `-ftz`, so it is
off here. For nvrtc and nvcc, *cached* is therefore the time of CuPy's `RawModule`, which has a cache for both. CuPy
asks the GPU for its architecture, so these two times need a GPU. CuPy also compiles an empty file, to learn the
compiler's version, and loads the machine code into the driver. These steps are included.
"""

from fourways.building.artefacts import ALL_COMPILERS, Made, make
from fourways.building.cmake import build_binding, build_with_cmake
from fourways.building.compare import figure, matrix_table, rows, runs_on, runs_on_table, sizes_table, table
from fourways.building.compile import COMPILERS, Build, BuildError, build, is_entry
from fourways.building.resources import of_code
from fourways.building.signature import signature_rows, signature_table, signatures
