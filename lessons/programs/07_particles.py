"""The loop or the kernel? Energies of groups of particles: timed, and profiled by ncu."""

import random
import subprocess
import sys
import time

import cupy as cp
import numpy as np

TEXT = r"""
// # CHANGE: the kernel, and its repair
extern "C" __global__ void energy(const float *p, float *e, long long n) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (MODE == 0 || i >= n) return; // MODE 0: an empty kernel
    // MODE 1: by particle, 2: by plane
    const long long mass = MODE == 1 ? 8 * i : i, next = MODE == 1 ? 1 : n;
    const float vx = p[mass + next], vy = p[mass + 2 * next], vz = p[mass + 3 * next];
    e[i] = 0.5f * p[mass] * (vx * vx + vy * vy + vz * vz);
}
"""
# CHANGE: the kernel's name, how many problems, the size of one
NAME, GROUPS, n = "energy", 500, 20_000
METRICS = ["gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"]
METRICS += [
    "launch__waves_per_multiprocessor",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
]
METRICS += [
    f"l1tex__t_{of}_pipe_lsu_mem_global_op_{op}.sum"
    for op in ("ld", "st")
    for of in ("requests", "sectors")
]
empty, by_particle, by_plane = (
    cp.RawKernel(TEXT, NAME, (f"-DMODE={mode}",)) for mode in range(3)
)
# CHANGE: mass, velocity, four more
particles = cp.random.default_rng(1).random((GROUPS, n, 8), dtype=cp.float32)
# CHANGE
planes, e = cp.ascontiguousarray(particles.reshape(-1, 8).T), cp.empty((GROUPS, n), cp.float32)
# CHANGE
right = (particles[..., 0] * (particles[..., 1:4] ** 2).sum(axis=2) / 2).max(axis=1).get()


def launched(kernel, p, e):
    # CHANGE: grid, block, typed arguments
    kernel(((e.size + 255) // 256,), (256,), (p, e, np.int64(e.size)))
    return e


def one_by_one(kernel, p):
    # CHANGE: your loop
    return [float(launched(kernel, p[group], e[group]).max()) for group in range(GROUPS)]


def at_once(kernel, p):
    # CHANGE; if the answer stays on the GPU, synchronize here
    return launched(kernel, p, e).max(axis=1).get()


if sys.argv[1:]:  # started by ncu
    # CHANGE
    (
        launched(by_particle, particles[0], e[0]),
        at_once(by_particle, particles),
        at_once(by_plane, planes),
    )
    sys.exit()
calls = {
    "one by one": (one_by_one, by_particle, particles),
    "one by one, empty": (one_by_one, empty, particles),
}
calls |= {
    "at once": (at_once, by_particle, particles),
    "at once, empty": (at_once, empty, particles),
}
calls["at once, planes"] = (at_once, by_plane, planes)
samples = {name: [] for name in calls}
for name in random.sample(20 * list(calls), 20 * len(calls)):
    # CHANGE: a value that no right answer has, so a kernel that writes nothing fails
    e.fill(np.nan)
    cp.cuda.Device().synchronize()
    start, (function, *arguments) = time.perf_counter(), calls[name]
    answer = function(*arguments)
    samples[name].append(time.perf_counter() - start)
    # CHANGE: the tolerance
    assert np.allclose(answer, right, rtol=1e-5) == ("empty" not in name), name
print(
    *(f"{name:18}{np.median(taken) * 1e3:7.2f} ms" for name, taken in samples.items()), sep="\n"
)
ncu = f"ncu --clock-control none --kernel-name {NAME} --metrics {','.join(METRICS)}"
told = subprocess.getoutput(f"{ncu} {sys.executable} {__file__} profiled").splitlines()
print(*([line for line in told if "__" in line or f"{NAME} (" in line] or told), sep="\n")
