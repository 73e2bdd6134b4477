"""Heat on a square plate that all GPUs share: python heat_on_gpus.py SIDE STEPS"""

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


def work(rank, count, ids, barrier, results, side, steps):
    """Drive one of `count` GPUs; put its checked rows and its seconds into `results`."""
    import cupy as cp

    cp.cuda.Device(rank).use()
    if count > 1:
        os.environ["NCCL_NVLS_ENABLE"] = "0"  # its multicast is for sums and the like
        sys.modules["torch"] = None  # nccl4py would import it, which takes seconds
        import nccl.core as nccl

        if rank == 0:
            unique = bytes(nccl.get_unique_id())
            for _ in range(count):
                ids.put(unique)
        unique = nccl.UniqueId.from_bytes(ids.get())
        communicator = nccl.Communicator.init(count, rank, unique)
    kernel = cp.RawKernel(KERNEL, "heat")
    main = cp.cuda.Stream(non_blocking=True)
    link = cp.cuda.Stream(non_blocking=True, priority=-1)  # its blocks go first
    edges, inner = (cp.cuda.Event(disable_timing=True) for _ in range(2))
    above, below = rank > 0, rank < count - 1  # is there a neighbour?

    def launch(u, v, first, last, stream):
        """Compute some rows of v from u."""
        wide, high = 256, 8  # CHANGE: the cells of a block
        grid = -(-u.shape[1] // wide), max(1, -(-(last - first) // high))
        with stream:
            numbers = (np.int64(number) for number in (u.shape[1], first, last))
            kernel(grid, (256,), (u, v, *numbers))  # CHANGE

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
        """Take an even number of steps, so that the last ends in u, and time them."""
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

    kinds = {"compute, then exchange": step_then_exchange}
    kinds |= {"both at once": step_while_exchanging}
    rows, columns, checked_steps = CHECKED
    checked, ends, seconds = {}, [], {name: [] for name in kinds}
    for name, step in kinds.items():
        u = cp.asarray(first_plate(rows, columns)[strip(rows)])
        run(step, u, u.copy(), checked_steps)
        checked[name] = u[above : len(u) - below].get()
    shape = strip(side).stop - strip(side).start, side
    u = cp.random.default_rng(rank).random(shape, dtype=cp.float32)  # CHANGE: the dtype
    for step in kinds.values():
        ends.append(u.copy())
        run(step, ends[-1], u.copy(), 20)
    assert (ends[0] == ends[1]).all(), "the two kinds of steps differ on the large plate"
    v, order = u.copy(), random.Random(1)  # the same order for all ranks
    for turn in range(8):
        for name in order.sample(list(kinds), len(kinds)):
            taken = run(kinds[name], u, v, steps)
            if turn:  # the first one warms up
                seconds[name].append(taken)
    results.put((rank, checked, seconds))
    barrier.wait()  # no rank leaves while another one still needs it
    if count > 1:
        communicator.destroy()


def first_plate(rows, columns):
    return np.random.default_rng(1).random((rows, columns), np.float32)  # CHANGE: the dtype


def main(count, side, steps):
    """Run a process for each of `count` GPUs, check the strips, print the times."""
    context = multiprocessing.get_context("spawn")
    ids, barrier, results = context.SimpleQueue(), context.Barrier(count), context.Queue()
    shared = (count, ids, barrier, results, side, steps)
    ranks = [context.Process(target=work, args=(rank, *shared)) for rank in range(count)]
    for each in ranks:
        each.start()
    try:
        answers = [results.get(timeout=90) for _ in ranks]
        for each in ranks:
            each.join(10)
    finally:
        for each in ranks:
            each.kill()  # a rank whose neighbour failed would wait for ever
    right = first_plate(*CHECKED[:2])
    for _ in range(CHECKED[2]):
        right = by_numpy(right)
    _, checked, seconds = zip(*sorted(answers, key=lambda answer: answer[0]), strict=True)
    for name in checked[0]:
        came = np.concatenate([each[name] for each in checked])
        assert (came == right).all(), name  # CHANGE: most kernels need a tolerance
        turns = zip(*(each[name] for each in seconds), strict=True)
        slowest = [1e6 * max(turn) for turn in turns]  # of all ranks
        told = f"{statistics.median(slowest):.1f} µs a step"
        print(f"GPUs: {count}, {name}: {told} ({min(slowest):.1f} to {max(slowest):.1f})")


if __name__ == "__main__":
    import cupy

    for count in sorted({1, cupy.cuda.runtime.getDeviceCount()}):
        main(count, int(sys.argv[1]), int(sys.argv[2]))
