"""Judges of the lessons' exercises: they give feedback, and do not police.

Each returns "Right …", or "Not yet: …" with what came and what was expected. `same` compares functions; kernels are
tried by `checking.exercise`. The modules of this package hold the judges that need more.
"""

from fourways.exercises import (
    bindings,
    cases,
    clocks,
    costs,
    doublify,
    filters,
    generated,
    halos,
    launches,
    plates,
    plugins,
    profiles,
    queues,
    saxpy,
    shipping,
    streams,
    sums,
    texels,
    tiles,
    workflows,
)
from fourways.exercises.functions import same
