"""What lesson 07 measures: a slow program recorded, profiled, and timed after each repair."""

from fourways.experiments.slow_program.exercises import check_blocks, check_sectors
from fourways.experiments.slow_program.profiles import (
    dram,
    lines,
    metrics,
    named_source,
    profile,
    profile_iterate,
    report,
    roofline,
)
from fourways.experiments.slow_program.program import (
    AS_FOUND,
    FORMS,
    build,
    drawing,
    empty,
    forms,
    iterated,
    iterations,
    loads_in_a_row,
    measurements,
    race,
    record,
    sums,
    variants,
)
