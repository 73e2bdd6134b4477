"""A kernel of the reader's own, with a *case*: a Python file that says its arguments, its right answer and its launch.

Everything is said by name, and nothing is inferred. `fourways check --help` shows a case. Two functions must be there:

    def arguments(size): ...      # a dictionary: typed values, by the names of the kernel's parameters
    def reference(x, n): ...      # takes arguments by name, and returns the right outputs by name: {"y": ...}

An array that the kernel only writes is None in `arguments`; its shape and dtype come from `reference`. A name that both
return is an array that the kernel changes in place. The other names are for what differs from the default:

    kernel = "scale<float, 4>"    # the kernel, or an instance of a template, of a file that holds several
    def launch(size, **arguments) # grid, block and, if any, bytes of dynamic shared memory; it may name what it needs
    options = ("-DTAPS=8",)       # for the compilers
    constants = {"taps": array}   # what the module's __constant__ and __device__ variables hold
    rtol, atol = 1e-6, 1e-7       # an answer may differ by atol + rtol * abs(right); default 1e-5 and 0
    sizes = (1, 33, 1000)         # what to check at, in place of `checking.SIZES`
    def same(got, right): ...     # judges dictionaries of arrays: True or None is right, False or a message is wrong
    derived = {"n": "x.size"}     # what `fourways package` computes from other arguments
"""

from fourways.own_kernel.builders import BUILDERS, Source, on_a_gpu
from fourways.own_kernel.case import Case, Right, read
from fourways.own_kernel.file import CaseError
