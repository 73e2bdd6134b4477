"""Eight timers before the cheats of `experiments.cheats`: which timer believes which cheat?"""

from fourways.experiments.timers.libraries import (
    OURS,
    TIMERS,
    ObjectionError,
    Timer,
    cupy_benchmark,
    do_bench,
    do_bench_cudagraph,
    kernelbench,
    missing,
    nvbench,
    ours,
    timeit,
    torch_timer,
)
from fourways.experiments.timers.verdicts import LEAST, compare, measured, table, word
