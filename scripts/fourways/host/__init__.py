"""The host way: a kernel's file, unchanged, compiled by a C++ compiler and run on NumPy arrays.

    module = host.compile(kernels.path("doublify"), options=("-DFACTOR=3",))
    kernel = module.get_function("doublify")
    kernel((blocks,), (threads,), (x, y, np.int64(x.size)))

The calls are those of CuPy's `RawModule` and `RawKernel`. `cpp/host/cuda_on_host.hpp` says how blocks and threads run.
A kernel runs in a program of its own, on copies of the arrays. One that leaves its arrays, divides by zero, aborts or
never ends takes that program down: Python gets a KernelError that says which thread did what, and the arrays as before.
With `sanitize` a launch looks for more, and raises SanitizerError: "thread" finds races between threads of a block,
"blocks" races between blocks in the launch's arrays, "address" accesses outside of arrays and of shared memory.
"""

from fourways.host.compile import compile
from fourways.host.launch import SHARED_BYTES, check_shape
from fourways.host.module import HostKernel, HostModule
from fourways.host.process import KernelError, SanitizerError
from fourways.host.sanitize import SEARCHES, finding, sanitizing
from fourways.host.unit import CompileError
