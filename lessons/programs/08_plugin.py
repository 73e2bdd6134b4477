"""Link a kernel with a force that users bring as text: calls left and time of each form."""

import subprocess
from tempfile import NamedTemporaryFile

import cupy as cp
import numpy as np
from cuda import core

DECLARED = 'extern "C" __device__ float force(float x, float v);\n'
FORCE = 'extern "C" __device__ float force(float x, float v) { return -x - 0.1f * v; }'
SWING = r"""
extern "C" __global__ void swing(const float *x, float *y, long long n)
{
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
arch = f"sm_{core.Device().arch}"


def linked(form, compiling, linking):
    options = core.ProgramOptions(arch=arch, **compiling)
    texts = DECLARED + SWING, DECLARED + FORCE  # so a force of other types is refused
    units = [core.Program(text, "c++", options).compile(form) for text in texts]
    linker = core.Linker(*units, options=core.LinkerOptions(arch=arch, **linking))
    return linker.link("cubin")


whole = core.Program(FORCE + SWING, "c++", core.ProgramOptions(arch=arch))
programs = {"PTX": linked("ptx", OPEN, {}), "cubin": linked("cubin", OPEN, {})}
programs |= {"LTO-IR": linked("ltoir", LTO, LTO), "one text": whole.compile("cubin")}
x = cp.random.default_rng(1).standard_normal(2**24, dtype=cp.float32)
place, speed = x[::128].get().astype(float), 0.0
for _ in range(256):
    speed = speed + 0.01 * (-place - 0.1 * speed)
    place = place + 0.01 * speed
config = core.LaunchConfig(grid=(x.size + 255) // 256, block=256)
stream = core.LEGACY_DEFAULT_STREAM  # CuPy's, too
for name, program in programs.items():
    kernel, y, seconds = program.get_kernel("swing"), cp.full_like(x, cp.nan), []
    for _ in range(23):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        core.launch(stream, config, kernel, x.data.ptr, y.data.ptr, np.int64(x.size))
        stop.record(), stop.synchronize()
        seconds.append(cp.cuda.get_elapsed_time(start, stop))
    assert np.allclose(y[::128].get(), place, rtol=1e-4, atol=1e-4), name
    with NamedTemporaryFile(suffix=".cubin") as file:
        file.write(program.code), file.flush()
        code = subprocess.check_output(["nvdisasm", "-c", file.name])
    print(f"{name:9} {code.count(b'CALL'):3} calls, {np.median(seconds[3:]):.3f} ms")
