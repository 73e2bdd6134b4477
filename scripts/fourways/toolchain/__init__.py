"""Which CUDA toolchain this machine has, and which part of it every way takes.

The driver and its GPUs, the programs, headers and libraries of every toolkit found, their versions, what GPU code runs
where, and for each way what is missing. `activate()` makes CuPy and PyCUDA find the same nvcc; `child_environment()`
does so for a fresh process. `stamp()` names all that a measured figure depends on.
"""

from fourways.toolchain.architectures import ARCHITECTURES, architectures, runs_on
from fourways.toolchain.driver import Driver, Gpu, driver, gpus
from fourways.toolchain.environment import activate, caches, child_environment, cold_caches, variables
from fourways.toolchain.find import (
    TARGET,
    cuda_header_dirs,
    cuda_root,
    header_dirs,
    host_compiler,
    host_compilers,
    in_roots,
    include_dirs,
    nvcc,
    program,
    programs,
    roots,
    run,
)
from fourways.toolchain.missing import MORE, NO_DRIVER, PACKAGES, SETUP, installed, missing
from fourways.toolchain.stamp import stamp
from fourways.toolchain.versions import (
    CUPY,
    distributions,
    header_version,
    library_version,
    loaded_library,
    program_version,
    version,
)
