"""What lesson 11 measures: pipelines of copies and kernels, kernels side by side, a kernel that waits, and CUDA graphs.

The pipelines stand in the lesson, as functions `run(launch, queues, x, y, z)` that queue `z = 2.5 * x + y`. A model of
streams needs no GPU, and neither do the judges of the lesson's exercises.
"""

from fourways.experiments.pipelines.copies import (
    CHUNKS,
    SIZE,
    STAGES,
    arrays,
    by_pycuda,
    figure,
    finished,
    race,
    stages,
    timelines,
    two_streams,
)
from fourways.experiments.pipelines.exercises import check_shortest, check_waits, duration, in_turns, schedule
from fourways.experiments.pipelines.streams import (
    DLPack,
    Interface,
    busy,
    graphs,
    lent,
    priorities,
    record,
    side_by_side,
)
