"""The CUDA toolchain of this machine: the driver, its GPUs, and the compilers, headers and libraries of each toolkit.

`missing()` says in one line that a tool or package is missing, with the remedy. `runs_on()` says which code runs on
which GPU. `activate()` makes CuPy and PyCUDA use the same nvcc, and `child_environment()` does so for a fresh process.
`stamp()` lists the device, the versions and the commit that a measured number depends on.
"""

from fourways.toolchain.driver import ARCHITECTURES, Driver, Gpu, architectures, driver, gpu_arch, gpus, runs_on
from fourways.toolchain.environment import activate, child_environment, variables
from fourways.toolchain.find import (
    TARGET,
    cuda_headers,
    header_dir,
    host_compiler,
    in_roots,
    include_dirs,
    nvcc,
    program,
    roots,
    run,
)
from fourways.toolchain.missing import MORE, NO_NVCC, PACKAGES, SETUP, installed, missing
from fourways.toolchain.preprocess import declared, preprocessed
from fourways.toolchain.versions import (
    CUPY,
    distributions,
    header_version,
    library_version,
    loaded_library,
    program_version,
    stamp,
    version,
)
