"""Print CUPTI's seconds of saxpy as JSON, by size: `by_cupti.py FILE SIZE …` launches the kernel in FILE."""

import json
import sys
from pathlib import Path

from cupti import cupti

found = []


def take(activities):
    found.extend((each.start, each.end) for each in activities if each.name == "saxpy")  # CHANGE the name


cupti.activity_enable(cupti.ActivityKind.CONCURRENT_KERNEL)
cupti.activity_register_callbacks(lambda: (8 * 2**20, 0), take)  # bytes of a buffer

import cupy as cp  # noqa: E402 (CUPTI comes first)
import numpy as np  # noqa: E402

saxpy = cp.RawKernel(Path(sys.argv[1]).read_text(), "saxpy")  # CHANGE the name
sizes = [int(size) for size in sys.argv[2:]]
x, y, z = (cp.full(max(sizes), value, cp.float32) for value in (0.5, 1, 0))  # CHANGE the arrays
for size in sizes:
    for _ in range(23):
        # CHANGE the launch, with a reset before it if the kernel needs one
        saxpy(((size + 1023) // 1024,), (256,), (np.float32(2.5), x, y, z, np.int64(size)))
cp.cuda.Device().synchronize()
cupti.activity_flush_all(1)  # calls `take`
seconds = [(end - start) / 1e9 for start, end in sorted(found)]
medians = np.median(np.reshape(seconds, (len(sizes), 23))[:, 3:], axis=1)  # three warm up
print(json.dumps(dict(zip(sizes, medians.tolist(), strict=True))))
