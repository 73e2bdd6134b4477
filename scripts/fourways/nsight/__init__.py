"""Profile a call of one way with Nsight Compute: ten metrics with their meaning, the hottest source lines, a roofline.

Reading a report (`.ncu-rep`) needs no GPU. Source lines are shown for kernels that were compiled at run time, too. If
the GPU's counters may not be read, CUDA events time the call instead. Another command records the same call with Nsight
Systems.
"""

from fourways.nsight.nsight import (
    CLOCKS,
    NoCountersError,
    ProfilingError,
    by_events,
    nsys_command,
    profile,
    refused,
    require_ncu,
    run_nsys,
)
from fourways.nsight.report import Report, ReportError, options, read
from fourways.nsight.report_tables import figure, lines_table, table
