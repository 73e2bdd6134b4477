"""A kernel on many workers: compile storms and how to avoid them, ranks with a time limit, a plate on several GPUs."""

from fourways.experiments.cluster.exercises import check_exchange, check_get_or_build
from fourways.experiments.cluster.mishaps import mishaps
from fourways.experiments.cluster.plates import join_without, scale_plates, scaling_figure, stepped
from fourways.experiments.cluster.ranks import RanksError, run_ranks
from fourways.experiments.cluster.storm import broadcast, compare_on_few_cores, compare_plans, storm_figure
from fourways.experiments.cluster.strips import step_while_exchanging, steps_by_graph
from fourways.experiments.cluster.tasks import Parcel, accept, compile_cubin, own_cache, step_on_gpu
from fourways.experiments.cluster.workers import on_each, workers
