"""Eight timers before the cheats of `experiments.cheats`: which timer believes which cheat?"""

from fourways.experiments.timers.libraries import TIMERS, missing
from fourways.experiments.timers.verdicts import compare
