"""Time every way by the same timer: warm, with a cold L2 cache, and the cost of a launch; at one size or at many.

Every row names its clock. *device* is the time between two CUDA events around one call on the GPU, *host* the time of
the Python call. *warm* is the median after warm-up, with inputs in the L2 cache as far as they fit. *cold L2* empties
that cache before each call, by reading other data.

A launch has two costs. *launch (host)* is the host's time for a call that it does not wait for. *launch (graph)* is the
GPU's time for a kernel of one element (for a case, of its smallest size) that a CUDA graph repeats.

The ways on the GPU take turns, so that a slow moment of the machine slows all of them. A way whose answer is wrong
before the samples or after them is not timed. The clocks are those of `timing`.
"""

from fourways.measuring.clocks import device_seconds, host_seconds, measure, require_right, turns, until_done
from fourways.measuring.compare import (
    compare,
    copy_row,
    figure,
    gpu_size,
    parse_sizes,
    table,
    time_calls,
    time_sizes,
    time_ways,
    warnings,
)
from fourways.measuring.on_gpu import prepared
