"""What lesson 12 and its page build and measure: one launcher under several bindings, and the time of imports."""

from fourways.experiments.more_ways.exercises import check_declared, check_refusals
from fourways.experiments.more_ways.import_times import imports
from fourways.experiments.more_ways.workbench import Workbench, collect
