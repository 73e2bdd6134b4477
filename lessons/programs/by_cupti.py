"""Print CUPTI's seconds of a kernel as JSON: `by_cupti.py KIND KERNEL PROGRAM …`.

It makes each of the program's `calls`. KIND is CONCURRENT_KERNEL, which adds instructions to
each kernel, or KERNEL, which adds none and runs one at a time.
"""

import json
import runpy
import sys

from cupti import cupti

kind, kernel, *sys.argv = sys.argv[1:]  # the program finds its own arguments
found = []


def take(activities):  # a name is as in the text if the kernel is extern "C"
    found.extend((each.start, each.end) for each in activities if each.name == kernel)


cupti.activity_enable(cupti.ActivityKind[kind])
# a buffer's bytes; 0: as many records as fit
cupti.activity_register_callbacks(lambda: (8 * 2**20, 0), take)

# imports CuPy, after CUPTI; each call launches the kernel once
calls = runpy.run_path(sys.argv[0])["calls"]
import cupy as cp  # noqa: E402
import numpy as np  # noqa: E402

for call in calls:
    for _ in range(23):
        call()
cp.cuda.Device().synchronize()
# calls `take`; 1 for all records, also those in a buffer that is not full
cupti.activity_flush_all(1)
seconds = [(end - start) / 1e9 for start, end in sorted(found)][-23 * len(calls) :]
print(json.dumps(np.reshape(seconds, (len(calls), 23))[:, 3:].tolist()))  # three warm up
