"""Link a kernel with a force that users bring as text: calls left and time of each form."""

import subprocess

import cupy as cp
import numpy as np
from cuda import core, pathfinder

DECLARED = 'extern "C" __device__ float force(float x, float v);\n'  # CHANGE
FORCE = 'extern "C" __device__ float force(float x, float v) {return -x - .1f*v;}'  # CHANGE
SWING = r"""
extern "C" __global__ void delay(int n) { for (auto t = clock64(); clock64() - t < n;) {} }
extern "C" __global__ void swing(const float *x, float *y, long long n) { // CHANGE all below
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float place = x[i], speed = 0;
    for (int step = 0; step < 256; ++step)
        speed += 0.01f * force(place, speed), place += 0.01f * speed;
    y[i] = place;
}
"""
gpu = cp.cuda.is_available()
arch = f"sm_{cp.cuda.Device().compute_capability}" if gpu else "sm_90"
tool = pathfinder.find_nvidia_binary_utility("nvdisasm") or "nvdisasm"  # pip, conda or PATH
OPEN, LTO = {"relocatable_device_code": True}, {"link_time_optimization": True}
forms = ("cubin", OPEN, {}), ("ltoir", LTO, LTO), ("ptx", OPEN, {})  # ptx asks the driver
whole = core.Program(FORCE + SWING, "c++", core.ProgramOptions(arch=arch)).compile("cubin")
programs = {"one text": whole}
for form, compiling, linking in forms if gpu else forms[:2]:
    given = core.ProgramOptions(arch=arch, **compiling)
    units = [core.Program(DECLARED + t, "c++", given).compile(form) for t in (SWING, FORCE)]
    linker = core.Linker(*units, options=core.LinkerOptions(arch=arch, **linking))
    programs[form] = linker.link("cubin")
for name, each in programs.items():
    np.frombuffer(each.code, np.uint8).tofile("/tmp/linked.cubin")
    code = subprocess.check_output([tool, "-c", "/tmp/linked.cubin"], text=True)
    print(f"{name:9} {code.count('`(force)'):3} calls")  # CHANGE: force
if not gpu:
    raise SystemExit("no GPU: compiled, linked and counted for an H200")
n = 2**24  # CHANGE: elements as the kernel counts them, a thread for each
x = cp.random.default_rng(1).standard_normal(n, dtype=cp.float32)  # CHANGE
place, speed = x[::128].get().astype(float), 0.0  # CHANGE: NumPy's answer
for _ in range(256):
    speed = speed + 0.01 * (-place - 0.1 * speed)  # CHANGE
    place = place + 0.01 * speed  # CHANGE
y, wrong = cp.empty(n, cp.float32), cp.float32(np.nan)  # CHANGE: wrong; for integers ~right
config = core.LaunchConfig(grid=(n + 255) // 256, block=256)  # CHANGE
arguments = x.data.ptr, y.data.ptr, np.int64(n)  # CHANGE
kernels = {name: each.get_kernel("swing") for name, each in programs.items()}  # CHANGE
delay, stream = whole.get_kernel("delay"), core.LEGACY_DEFAULT_STREAM  # CuPy's stream, too
samples, lot = {name: [] for name in programs}, np.random.default_rng(1)
for name in [name for _ in range(23) for name in lot.permutation(list(programs))]:
    y[...] = wrong  # so that an old answer is no answer
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    core.launch(stream, core.LaunchConfig(grid=1, block=1), delay, np.int32(400_000))
    start.record(), core.launch(stream, config, kernels[name], *arguments), stop.record()
    stop.synchronize(), samples[name].append(cp.cuda.get_elapsed_time(start, stop))
    assert np.allclose(y[::128].get(), place, rtol=1e-4, atol=1e-4), name  # CHANGE
for name, taken in samples.items():
    print(f"{name:9} {np.median(taken[3:]):.3f} ms")  # the first three warm up
