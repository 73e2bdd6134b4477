"""What lesson 09 does with a filter: variants are built, checked, timed and searched; costs are held against gains.

The judges of the lesson's exercises use the host way.
"""

from fourways.experiments.tuning.exercises import check_expression, check_kept
from fourways.experiments.tuning.filters import constants, library, listing, lists, precompiled, race, smoothing, unseen
from fourways.experiments.tuning.search import payback, tune, tune_table
