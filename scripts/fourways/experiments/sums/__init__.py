"""What lesson 03 measures: sums and prefix sums, what compilers make of CUB, and CuPy's sums without CUB."""

from fourways.experiments.sums.compiled import builds, cub_versions, refusals
from fourways.experiments.sums.exercises import check_partial_sums, check_warp_scan
from fourways.experiments.sums.races import (
    accelerators,
    arrangements,
    different_results,
    in_blocks,
    launched_in_blocks,
    not_added,
    race,
    scans,
)
