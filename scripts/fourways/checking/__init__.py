"""Is this way's answer right? Fresh poisoned outputs, awkward sizes, guarded edges; NaN never passes."""

from fourways.checking.verdict import SIZES, CheckFailure, check, compare, exercise, fetch, place, poison, verdict
