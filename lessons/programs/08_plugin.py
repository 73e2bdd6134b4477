"""Link a kernel with a force that users bring as text: calls left and time of each form."""

import re
import subprocess
from tempfile import NamedTemporaryFile

import cupy as cp
import numpy as np
from cuda import core, pathfinder

DECLARED = 'extern "C" __device__ float force(float x, float v);\n'  # CHANGE
FORCE = 'extern "C" __device__ float force(float x, float v) {return -x - .1f*v;}'  # CHANGE
SWING = r"""
extern "C" __global__ void delay(int n) { for (auto t = clock64(); clock64() - t < n;) {} }
extern "C" __global__ void swing(const float *x, float *y, long long n) { // CHANGE all
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float place = x[i], speed = 0;
    for (int step = 0; step < 256; ++step) {
        speed += 0.01f * force(place, speed);
        place += 0.01f * speed;
    }
    y[i] = place;
}
"""
OPEN, LTO = {"relocatable_device_code": True}, {"link_time_optimization": True}
core.Device().set_current()
arch, stream = f"sm_{core.Device().arch}", core.LEGACY_DEFAULT_STREAM  # CuPy's stream, too
whole = core.Program(FORCE + SWING, "c++", core.ProgramOptions(arch=arch)).compile("cubin")
programs = {"one text": whole}
for form, compiling, linking in ("ptx", OPEN, {}), ("cubin", OPEN, {}), ("ltoir", LTO, LTO):
    given = core.ProgramOptions(arch=arch, **compiling)
    units = [core.Program(DECLARED + t, "c++", given).compile(form) for t in (SWING, FORCE)]
    linker = core.Linker(*units, options=core.LinkerOptions(arch=arch, **linking))
    programs[form] = linker.link("cubin")
x = cp.random.default_rng(1).standard_normal(2**24, dtype=cp.float32)  # CHANGE
place, speed = x[::128].get().astype(float), 0.0  # CHANGE: NumPy's answer
for _ in range(256):
    speed = speed + 0.01 * (-place - 0.1 * speed)  # CHANGE
    place = place + 0.01 * speed  # CHANGE
y, samples = cp.empty_like(x), {name: [] for name in programs}  # CHANGE
arguments = x.data.ptr, y.data.ptr, np.int64(x.size)  # CHANGE
kernels = {name: each.get_kernel("swing") for name, each in programs.items()}  # CHANGE
config = core.LaunchConfig(grid=(x.size + 255) // 256, block=256)  # CHANGE
delay, lot = whole.get_kernel("delay"), np.random.default_rng(1)
tool = pathfinder.find_nvidia_binary_utility("nvdisasm") or "nvdisasm"  # on PATH
for name in [name for _ in range(23) for name in lot.permutation(list(programs))]:
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    core.launch(stream, core.LaunchConfig(grid=1, block=1), delay, np.int32(400_000))
    start.record(), core.launch(stream, config, kernels[name], *arguments), stop.record()
    stop.synchronize(), samples[name].append(cp.cuda.get_elapsed_time(start, stop))
for name, taken in samples.items():
    y.fill(cp.nan)  # so that an old answer is no answer
    core.launch(stream, config, kernels[name], *arguments)
    assert np.allclose(y[::128].get(), place, rtol=1e-4, atol=1e-4), name  # CHANGE
    with NamedTemporaryFile(suffix=".cubin") as file:
        file.write(programs[name].code), file.flush()
        code = subprocess.check_output([tool, "-c", file.name], text=True)
    calls = re.findall(r"CALL\.[^;]*\bforce\)", code)  # CHANGE: force; no others
    print(f"{name:9} {len(calls):3} calls, {np.median(taken[3:]):.3f} ms")
