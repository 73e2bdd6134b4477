"""Eight timers before the cheats of `experiments.cheats`: which timer believes which cheat?"""

from fourways.experiments.timers.libraries import OURS, TIMERS, missing
from fourways.experiments.timers.verdicts import LEAST, compare
