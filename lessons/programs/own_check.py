"""Check a kernel with CuPy alone: awkward sizes, NaN before, guards, float64 answers."""

import cupy as cp
import numpy as np

TEXT = r"""
extern "C" __global__ void length(const float *x, const float *y, float *z, int n, float by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = by * sqrtf(x[i] * x[i] + y[i] * y[i]);
}
"""  # CHANGE
NAME, OPTIONS = "length", ()  # CHANGE: options such as "-DTAPS=8"
PLANTED = "i < n", "i <= n"  # CHANGE: a mistake that the check must find
SIZES = 0, 1, 2, 31, 32, 33, 255, 257, 1_009, 1_000_003  # CHANGE: what your kernel takes
RTOL, ATOL = 1e-5, 0  # CHANGE: how wrong an answer may be; 0, 0 for integers
WRITTEN = {"z": np.float32}  # CHANGE: arrays that the kernel only writes, with their dtypes
GUARD = 256  # bytes before and behind each array, which nobody may write


# CHANGE: in the kernel's order; arrays of any shape. float *: float32 array; int: np.int32(n)
def arguments(n):
    x, y = np.random.default_rng(n).standard_normal((2, n), np.float32)
    # a number that varies
    return {"x": x, "y": y, "z": None, "n": np.int32(n), "by": np.float32(0.5 + n % 3)}


# CHANGE: what each array holds that the kernel writes; its shape comes from here
def reference(x, y, by, **_):
    return {"z": by * np.hypot(x.astype(np.float64), y)}


def launch(n):  # CHANGE: grid and block. A grid of 0 blocks is an error
    return (max(1, (n + 255) // 256),), (256,)


def mistake(text, n):  # what is wrong with a kernel's text at a size, or None
    given = arguments(n)
    right = reference(**{name: np.copy(value) for name, value in given.items()})
    buffers, views = {}, {}
    for name in [name for name in given if name in WRITTEN or np.ndim(given[name])]:
        new = name in WRITTEN
        array = np.empty(right[name].shape, WRITTEN[name]) if new else given[name]
        end = GUARD + array.nbytes
        buffers[name] = cp.full(end + GUARD, 255 if new else 254, np.uint8)  # NaN, or -1
        views[name] = buffers[name][GUARD:end].view(array.dtype).reshape(array.shape)
        if not new:
            views[name][...] = cp.asarray(array)
    cp.RawKernel(text, NAME, OPTIONS)(*launch(n), tuple((given | views).values()))
    for name, view in views.items():
        buffer, came = cp.asnumpy(buffers[name]), cp.asnumpy(view)
        if len({*buffer[:GUARD], *buffer[-GUARD:]}) > 1:
            return f"size {n}: the kernel writes beside {name}"
        wanted = right.get(name, given[name])  # what it only reads must stay
        for i in np.argwhere(~np.isclose(came, wanted, RTOL, ATOL))[:1]:
            return f"size {n}: {name}{i.tolist()} is {came[*i]}, expected {wanted[*i]}"


for what, text in {"as it is": TEXT, "with a mistake": TEXT.replace(*PLANTED)}.items():
    found = next(filter(None, (mistake(text, n) for n in SIZES)), "")
    print(f"{NAME} {what}: {found or f'right at {len(SIZES)} sizes'}")
    assert bool(found) == (text != TEXT)
