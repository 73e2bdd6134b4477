"""From an edit of a kernel to its result: just in time by CuPy, ahead of time by CMake."""

import random
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent  # with a module in FOLDER / "build"
IMAGE = np.arange(240, dtype=np.uint8).reshape(12, 20)  # CHANGE
TABLE = np.arange(0, 512, 2, dtype=np.float32)  # CHANGE


def check(way, offset):
    if way == "module":
        sys.path.insert(0, str(FOLDER / "build"))
        import lookups  # CHANGE

        result = lookups.lookup(IMAGE, TABLE)  # CHANGE
    else:
        import cupy as cp  # here, since the module needs no CuPy

        text = (FOLDER / "lookup.cuh").read_text()
        kernel = cp.RawModule(code=text, backend=way).get_function("lookup")  # CHANGE
        out = cp.empty(IMAGE.shape, np.float32)  # CHANGE
        arguments = cp.asarray(IMAGE), cp.asarray(TABLE), out, np.int64(out.size)  # CHANGE
        kernel(((out.size + 255) // 256,), (256,), arguments)
        result = out.get()  # waits for the kernel
    assert np.array_equal(result, TABLE[IMAGE] + np.float32(offset)), way  # CHANGE


def loop(way, process):
    """Return the seconds from an edit to its checked result."""
    offset, file = random.randrange(1, 2**23), FOLDER / "lookup.cuh"
    file.write_text(re.sub(r"(?<=OFFSET )\d+", str(offset), file.read_text()))
    start = time.perf_counter()
    if way == "module":
        build = ["cmake", "--build", FOLDER / "build"]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    if process == "running":
        check(way, offset)
    else:
        subprocess.run([sys.executable, __file__, way, str(offset)], check=True)
    return time.perf_counter() - start


if len(sys.argv) == 3:  # this is the fresh process of a loop
    sys.exit(check(sys.argv[1], int(sys.argv[2])))
loops = [(way, process) for way in ("nvrtc", "nvcc") for process in ("running", "fresh")]
samples = {each: [] for each in [*loops, ("module", "fresh")]}
for _ in range(6):
    for each in random.sample(list(samples), len(samples)):
        samples[each].append(loop(*each))
for (way, process), taken in samples.items():
    low, median, high = np.percentile(taken[1:], [0, 50, 100])  # the first warms up
    print(f"{way:6} {process} process: {median:.2g} s ({low:.2g} to {high:.2g})")
