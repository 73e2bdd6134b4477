"""A kernel on many workers: compile storms and how to avoid them, ranks with a time limit, a plate on several GPUs."""

from fourways.experiments.cluster.plates import (
    CHECK,
    check_strips,
    join_without,
    scale_plates,
    scaling_figure,
    scaling_table,
)
from fourways.experiments.cluster.ranks import Meeting, RanksError, Tell, run_ranks
from fourways.experiments.cluster.storm import broadcast, compare_plans, storm_figure
from fourways.experiments.cluster.strips import (
    ROUND,
    Part,
    Side,
    Strip,
    own_rows,
    sides,
    step_then_exchange,
    step_while_exchanging,
    step_with_peer_copies,
    steps_by_graph,
    steps_by_launches,
    with_halos,
)
from fourways.experiments.cluster.tasks import Parcel, accept, compile_by_nvcc, compile_cubin, own_cache
from fourways.experiments.cluster.workers import cpu_seconds, on_each, workers
