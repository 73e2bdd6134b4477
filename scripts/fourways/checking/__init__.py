"""Is this way's answer right? Fresh poisoned outputs, awkward sizes, guarded edges; NaN never passes."""

from fourways.checking.arrays import Expected, fetch, fresh_outputs, place, same
from fourways.checking.at_sizes import SIZES, Outcomes, check, exercise, passing, search
from fourways.checking.verdict import CheckFailure, GpuLost, compare, compare_all, not_yet, verdict
