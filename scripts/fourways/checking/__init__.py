"""Is this way's answer right? Fresh poisoned outputs, awkward sizes, guarded edges; NaN never passes.

In a program of your own, `checked` holds each launch of a kernel to its signature.
"""

from fourways.checking.arrays import Expected, fetch, fresh_outputs, place, same
from fourways.checking.at_sizes import SIZES, as_float, check, exercise, is_whole, not_yet, outcomes, passing, search
from fourways.checking.launch import checked
from fourways.checking.verdict import CheckFailure, compare, compare_all, verdict
