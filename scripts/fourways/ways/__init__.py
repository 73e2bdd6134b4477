"""The ways from Python to a kernel, a module each; and the functions of one kernel in several ways.

All that is particular to a way stands in its module: label, colour, what it needs, the cell that calls a kernel, how
its machine code is made, how a profiler sees its source lines. A sixth way is one more module that ends in `register`.
"""

# the order of all tables
# isort: off
import fourways.ways.nvrtc
import fourways.ways.nvcc
import fourways.ways.pycuda
import fourways.ways.pybind11
import fourways.ways.host

# isort: on
from fourways.ways.functions import GPU_SIZE, HOST_SIZE, Ways, is_host, side_by_side
from fourways.ways.run import Task, run_way
from fourways.ways.way import WAYS, function_name, launch_text, missing
