"""Profile one call of one way with Nsight Compute: ten metrics and what they mean, hottest source lines, roofline.

A report (`.ncu-rep`) is read into rows, which needs no GPU. Source lines are shown of kernels that were compiled at run
time, too. Where counters may not be read, CUDA events time the call instead. For Nsight Systems there is the command
that records the same call.
"""

from fourways.profiling.nsight import (
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
from fourways.profiling.report import Report, ReportError, options, read
from fourways.profiling.report_tables import figure, lines_table, table
