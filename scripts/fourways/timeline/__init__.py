"""What the GPU and the host do and when: CUPTI's timeline of a lesson or a kernel, drawn, and for Perfetto.

CUPTI is CUDA's profiling library; `cupti-python` brings it, and it needs no rights. It stamps the start and end of
kernels, copies, CUDA API calls and NVTX ranges on one time line: GPU work by the GPU's clock, the rest by the host's.
Recording has a price: every launch costs the host more than it does without.
"""

from fourways.timeline.figure import figure
from fourways.timeline.run import TimelineError, of_lesson, of_program
from fourways.timeline.trace import events, part, table, trace_json, union
