"""What lesson 06 measures: nine clocks and CUPTI, caches, noise, launches in a row, first calls; and made-up machines.

`noise`, `twins`, the made-up machines and the judges of the lesson's exercises need no GPU.
"""

from fourways.experiments.clocks.compared import Compared, by_cupti, compare, event_costs
from fourways.experiments.clocks.exercises import Machine, MadeUpGpu, check_fair, check_kernel_seconds
from fourways.experiments.clocks.launches import busy, first_call, full_queue, in_a_row, on_gpu, one_time, warm_and_cold
from fourways.experiments.clocks.noise import noise, samplers, twins
