"""One timer for every way: warm, with a cold L2 cache, and the cost of a launch; at one size or over many.

Two clocks are used, and every row says which. *device*: CUDA events around one call, on the GPU. *host*: the Python
call. *warm* is the median after warm-up, with inputs in the L2 cache as far as they fit; *cold L2* empties that cache
before each call, by reading other data. A launch has two costs: *launch (host)*, what the call costs Python while
nobody waits; *launch (graph)*, what a kernel of one element (of a case, the least that it has) takes the GPU when a
CUDA graph repeats it.
The ways on the GPU take turns, sample by sample: what slows the machine for a moment slows them all.
A way whose answer is wrong is not timed. Outputs are restored before each sample, outside of the time: to poison, or
in place to what they held. After the last sample they are judged. So no call can answer from the output of the one
before. On the GPU the restoring reads the inputs as well, which leaves the L2 cache as a call would (`Judged`).

The *first result* of a process is taken apart, in fresh processes, by the host's clock: *start* (the interpreter),
*import* (NumPy, CuPy, PyCUDA …), *context* (the driver sets up the GPU), *inputs* (made, copied to the GPU), *build*
(source to machine code, or finding it in a cache), *load* (machine code to the driver), *launch* (the first call,
waited for).
"""

from fourways.tables import summary
from fourways.timing.clocks import (
    captured,
    device_seconds,
    event_overhead,
    graph_seconds,
    host_seconds,
    launch_seconds,
    measure,
    turns,
)
from fourways.timing.compare import (
    compare,
    copy_row,
    figure,
    gpu_size,
    parse_sizes,
    table,
    time_calls,
    time_sizes,
    time_way,
    time_ways,
    warnings,
)
from fourways.timing.first_result import (
    FirstResultError,
    first_result,
    first_result_figure,
    first_result_table,
    first_results,
)
from fourways.timing.judged import Judged
