"""Is this way's answer right? Fresh poisoned outputs, awkward sizes, guarded edges; NaN never passes.

In a program of your own, `checked` holds each launch of a kernel to its signature.
"""

from fourways.checking.launch import checked
from fourways.checking.verdict import (
    SIZES,
    CheckFailure,
    Expected,
    as_list,
    check,
    compare,
    compare_all,
    exercise,
    fetch,
    fresh_outputs,
    place,
    poison,
    verdict,
)
