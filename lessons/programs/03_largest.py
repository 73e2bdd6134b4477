"""Where do x and y differ most, and by how much? In two launches, and by CuPy."""

import cupy as cp
import numpy as np

text = r"""
struct State { float value; long long place; };  // CHANGE: what a part of the arrays comes to
__device__ State neutral() { return {-1, -1}; }  // CHANGE: combine(neutral(), a) is a
__device__ State combine(State a, State b)
{ return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a; }  // CHANGE

// combines the states of a block's threads, always in one order
__device__ void leave(State mine, State *out) {
    __shared__ State all[512];
    const int i = threadIdx.x;
    all[i] = mine;
    for (int half = 256; half > 0; half /= 2) {
        __syncthreads();  // first of all: the states that this round reads must be there
        if (i < half) all[i] = combine(all[i], all[i + half]);
    }
    if (i == 0) *out = all[0];
}

// CHANGE: the arrays
extern "C" __global__ void each_block(const float *x, const float *y, State *parts,
                                      long long n) {
    State mine = neutral();
    for (long long i = blockIdx.x * 512LL + threadIdx.x; i < n; i += gridDim.x * 512LL)
        mine = combine(mine, {fabsf(x[i] - y[i]), i});  // CHANGE: the state of one element
    leave(mine, parts + blockIdx.x);
}

extern "C" __global__ void one_block(const State *parts, State *result, long long number) {
    State mine = neutral();
    for (long long i = threadIdx.x; i < number; i += 512) mine = combine(mine, parts[i]);
    leave(mine, result);
}

extern "C" __global__ void delay(long long cycles) {
    for (const long long start = clock64(); clock64() - start < cycles;);
}
"""
# CHANGE: as the struct
STATE = np.dtype([("value", np.float32), ("place", np.int64)], align=True)
each_block, one_block, delay = map(
    cp.RawModule(code=text).get_function, ("each_block", "one_block", "delay")
)
# CHANGE: the inputs
arrays = x, y = tuple(cp.random.default_rng(1).random((2, 2**26), dtype=cp.float32))
# CHANGE: largest in three places, so that `combine` has to choose
x[[600, 999, -1]], y[[600, 999, -1]] = 1, 0
apart, copied = np.abs(x.get() - y.get()), cp.empty_like(x)  # CHANGE: for NumPy's answer
counts = [each * cp.cuda.Device().attributes["MultiProcessorCount"] for each in (1, 4, 64)]
parts, result = (cp.empty(number * STATE.itemsize, cp.uint8) for number in (counts[-1], 1))


def in_two_launches(blocks, n):
    each_block((blocks,), (512,), (*arrays, parts, np.int64(n)))
    one_block((1,), (512,), (parts, result, np.int64(blocks)))


for blocks, n in [(blocks, n) for blocks in counts for n in (1, 1000, x.size)]:
    in_two_launches(blocks, n)
    # CHANGE: NumPy's answer
    assert result.get().view(STATE)[0].item() == (apart[:n].max(), apart[:n].argmax())
calls = {
    f"{blocks:,} blocks": lambda blocks=blocks: in_two_launches(blocks, x.size)
    for blocks in counts
}
calls["abs(x - y).argmax()"] = lambda: abs(x - y).argmax()  # CHANGE: CuPy's own
calls["copy"] = lambda: copied.data.copy_from_device_async(x.data, x.nbytes)
samples, start, stop = {name: [] for name in calls}, cp.cuda.Event(), cp.cuda.Event()
for name in np.random.permutation(23 * list(calls)):  # by lot
    # keeps the GPU busy for 0.2 ms, until all is queued; more launches need more
    delay((1,), (1,), (np.int64(400_000),))
    start.record()
    calls[name]()
    stop.record()
    stop.synchronize()
    samples[name].append(cp.cuda.get_elapsed_time(start, stop) * 1e3)  # µs
for name, taken in samples.items():
    p10, median, p90 = np.percentile(taken[3:], [10, 50, 90])  # the first three warm up
    print(f"{name:20} {median:6.0f} µs ({p10:.0f} to {p90:.0f})")
