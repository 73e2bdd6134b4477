"""Record, by CUPTI, what the GPU and the host do during a lesson or a kernel; draw it, and export it for Perfetto.

CUPTI is CUDA's profiling library. The package `cupti-python` brings it, and it needs no special rights. It notes the
start and the end of kernels, copies, CUDA API calls and NVTX ranges on one time line. Work on the GPU is measured by
the GPU's clock, all else by the host's. Recording has a price: every launch takes the host longer than without it.
"""

from fourways.timeline.figure import figure
from fourways.timeline.run import TimelineError, of_lesson, of_program
from fourways.timeline.trace import part, table, trace_json
