"""What lesson 10 measures: kernels by CuPy and pystencils against kernels by hand, and what pystencils keeps."""

from fourways.experiments.generated.by_hand import SIDE, against_copy, instructions, launcher, suspects, views
from fourways.experiments.generated.by_pystencils import (
    compiler_on_path,
    costs,
    grids,
    kept_launches,
    kernel_file,
    multiply_subnormals,
    orders_of_fields,
    right_calls,
    startup_of_fast_math,
)
from fourways.experiments.generated.exercises import check_launch, check_wind
