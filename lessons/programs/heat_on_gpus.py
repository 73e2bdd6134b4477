"""Heat spreads on square plates that all GPUs share: python heat_on_gpus.py SIDE STEPS [SIDE STEPS ...]"""

import multiprocessing
import os
import random
import statistics
import sys
import time

import numpy as np

KERNEL = r"""
extern "C" __global__ void heat(const float *u, float *v, long long w, long long first,
                                long long last)
{   // computes the rows first to last - 1 of v, without their first and last cell
    const long long x = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long top = first + 8LL * blockIdx.y, end = top + 8 < last ? top + 8 : last;
    if (x > 0 && x < w - 1)
        for (long long i = top * w + x; i < end * w; i += w)
            v[i] = 0.25f * ((u[i - w] + u[i + w]) + (u[i - 1] + u[i + 1]));
}
"""  # CHANGE
CHECKED = 97, 1028, 40  # rows, columns, steps (even) of the plate that NumPy computes, too


def by_numpy(u):  # CHANGE
    """Return a plate after a step."""
    v = u.copy()
    up_down, left_right = u[:-2, 1:-1] + u[2:, 1:-1], u[1:-1, :-2] + u[1:-1, 2:]
    v[1:-1, 1:-1] = np.float32(0.25) * (up_down + left_right)
    return v


def work(rank, count, ids, barrier, results, plates):
    """Drive one GPU of `count`: compute a strip of each plate, and put seconds and checked rows into `results`."""
    import cupy as cp

    cp.cuda.Device(rank).use()
    if count > 1:
        os.environ["NCCL_NVLS_ENABLE"] = "0"  # NVLink's multicast serves sums, not rows for a neighbour
        sys.modules["torch"] = None  # nccl4py imports PyTorch where it is installed, which takes seconds
        import nccl.core as nccl

        if rank == 0:
            unique = bytes(nccl.get_unique_id())
            for _ in range(count):
                ids.put(unique)
        communicator = nccl.Communicator.init(count, rank, nccl.UniqueId.from_bytes(ids.get()))
    kernel = cp.RawKernel(KERNEL, "heat")
    main = cp.cuda.Stream(non_blocking=True)
    link = cp.cuda.Stream(non_blocking=True, priority=-1)  # its blocks go first
    edges, inner = (cp.cuda.Event(disable_timing=True) for _ in range(2))
    above, below = rank > 0, rank < count - 1  # is there a neighbour?

    def launch(u, v, first, last, stream):
        """Compute some rows of v from u."""
        grid = -(-u.shape[1] // 256), max(1, -(-(last - first) // 8))  # CHANGE: columns, rows of a block
        with stream:
            kernel(grid, (256,), (u, v, *map(np.int64, (u.shape[1], first, last))))  # CHANGE

    def exchange(v, stream):
        """Send the rows that the neighbours need, and fill the halos."""
        if count == 1:
            return
        with nccl.group():
            if above:
                communicator.send(v[1], rank - 1, stream=stream.ptr)
                communicator.recv(v[0], rank - 1, stream=stream.ptr)
            if below:
                communicator.send(v[len(v) - 2], rank + 1, stream=stream.ptr)
                communicator.recv(v[len(v) - 1], rank + 1, stream=stream.ptr)

    def step_then_exchange(u, v):
        launch(u, v, 1, len(v) - 1, main)
        exchange(v, main)

    def step_while_exchanging(u, v):
        main.wait_event(edges)  # of the step before
        link.wait_event(inner)  # of the step before
        if above:
            launch(u, v, 1, 2, link)
        if below:
            launch(u, v, len(v) - 2, len(v) - 1, link)
        edges.record(link)
        exchange(v, link)
        launch(u, v, 1 + above, len(v) - 1 - below, main)
        inner.record(main)

    def run(step, u, v, steps):
        """Take an even number of steps, so that the last one ends in u, and return the seconds of each."""
        cp.cuda.Device().synchronize()
        barrier.wait()  # all ranks start together
        start = time.perf_counter()
        for _ in range(steps):
            step(u, v)
            u, v = v, u
        cp.cuda.Device().synchronize()
        return (time.perf_counter() - start) / steps

    def strip(rows):
        """Return the slice of this rank: its own rows, and a halo for each neighbour."""
        return slice(rank * rows // count - above, (rank + 1) * rows // count + below)

    rows, columns, steps = CHECKED
    kinds = {"compute, then exchange": step_then_exchange, "both at once": step_while_exchanging}
    checked, seconds = {}, {}
    for name, step in kinds.items():
        u = cp.asarray(first_plate(rows, columns)[strip(rows)])
        run(step, u, u.copy(), steps)
        checked[name] = u[above : len(u) - below].get()
    order = random.Random(1)  # the same order for all ranks
    for side, steps in plates:
        u = cp.ones((strip(side).stop - strip(side).start, side), cp.float32)  # CHANGE: the dtype
        v = u.copy()
        for turn in range(8):  # the first one warms up
            for name in order.sample(list(kinds), len(kinds)):
                taken = run(kinds[name], u, v, steps)
                if turn:
                    seconds.setdefault((side, name), []).append(taken)
    results.put((rank, checked, seconds))
    barrier.wait()  # no rank leaves while another one still needs it
    if count > 1:
        communicator.destroy()


def first_plate(rows, columns):
    return np.random.default_rng(1).random((rows, columns), np.float32)  # CHANGE: the dtype


def main(count, plates):
    """Run a process for each of `count` GPUs, check the strips, and print what a step takes."""
    context = multiprocessing.get_context("spawn")
    ids, barrier, results = context.SimpleQueue(), context.Barrier(count), context.Queue()
    shared = (count, ids, barrier, results, plates)
    ranks = [context.Process(target=work, args=(rank, *shared), daemon=True) for rank in range(count)]
    for each in ranks:
        each.start()
    try:
        done = sorted((results.get(timeout=120) for _ in ranks), key=lambda each: each[0])
        for each in ranks:
            each.join(10)
    finally:
        for each in ranks:
            each.kill()  # a rank whose neighbour failed would wait for ever
    right = first_plate(*CHECKED[:2])
    for _ in range(CHECKED[2]):
        right = by_numpy(right)
    for name in done[0][1]:
        came = np.concatenate([checked[name] for _, checked, _ in done])
        assert (came == right).all(), name  # CHANGE: most kernels need a tolerance
    for side, name in done[0][2]:
        slowest = [max(turn) for turn in zip(*(seconds[side, name] for _, _, seconds in done), strict=True)]
        low, middle, high = (1e6 * each for each in (min(slowest), statistics.median(slowest), max(slowest)))
        print(f"{side}², GPUs: {count}, {name:22} {middle:6.1f} µs a step ({low:.1f} to {high:.1f})", flush=True)


if __name__ == "__main__":
    import cupy

    numbers = [int(word) for word in sys.argv[1:]]
    for count in sorted({1, cupy.cuda.runtime.getDeviceCount()}):
        main(count, list(zip(numbers[::2], numbers[1::2], strict=True)))
