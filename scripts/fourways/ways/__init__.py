"""The ways from Python to a kernel, a module each; and the functions of one kernel in several ways.

All that is particular to a way stands in its module: label, colour, what it needs, the cell that calls a kernel, how
its machine code is made, how a profiler sees its source lines. A sixth way is one more module that ends in `register`.
"""

from fourways.ways import nvrtc, nvcc, pycuda, pybind11, host  # isort: skip  # the order of all tables
from fourways.ways.functions import GPU_SIZE, HOST_SIZE, Variant, Ways, is_host, side_by_side
from fourways.ways.run import Ran, Task, run_way
from fourways.ways.way import WAYS, Stage, Way, function_name, launch_text, missing, register
