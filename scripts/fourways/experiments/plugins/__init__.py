"""What lesson 08 does with units of a program: link them in three forms, look at the machine code, time, draw, judge.

Compiling, linking and the judges need no GPU and no driver. A unit is a text that is compiled by itself; a program is
the `ObjectCode` of a linked cubin.
"""

from fourways.experiments.plugins.exercises import check_front_door, check_one_call
from fourways.experiments.plugins.launches import (
    STEPS,
    cupy_run,
    draw_on_the_cpu,
    fractals,
    pycuda_run,
    race,
    runner,
    show,
    verdict,
)
from fourways.experiments.plugins.units import (
    DECLARATION,
    FORMS,
    attempt,
    build_by_cmake,
    calls_in_file,
    calls_left,
    compiled,
    differing,
    link_log,
    linked,
    look,
    one_source,
    price,
)
from fourways.toolchain import gpu_arch as arch
