"""What a call of a binding costs, and who runs the loop over time: all on the GPU."""

import functools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fourways import measuring, toolchain
from fourways.experiments.pipelines import DLPack
from fourways.tables import Column, Row, Table, seconds, summary


def ladder(heat: Any, launches: int = 200) -> Table:
    """Time calls that queue one step of a small plate (host clock), by how the binding learns the arrays' addresses.

    `heat` is the lesson's module. One row is a launch in a loop in C++, and `times` is a row's median divided by that
    row's. PyTorch's row is left out where PyTorch is not installed.
    Raises AssertionError if two calls differ in their result.
    """
    import cupy as cp

    import fourways_aot

    side = 16
    u = cp.random.default_rng(1).random((side, side), dtype=cp.float32)
    v = cp.empty_like(u)
    only = DLPack(u), DLPack(v)
    calls: dict[str, tuple[Callable[[], Any], Any]] = {
        "addresses: heat.step_at": (lambda: heat.step_at(u.data.ptr, v.data.ptr, side, side, 1), v),
        "CuPy's attributes: fourways_aot": (lambda: fourways_aot.stencil(u, v), v),
        "__cuda_array_interface__: heat.step": (lambda: heat.step(u, v), v),
        "__dlpack__: fourways_aot": (lambda: fourways_aot.stencil(*only), v),
    }
    if toolchain.installed("torch"):
        import torch

        ours, theirs = (torch.from_numpy(array.get()).cuda() for array in (u, cp.zeros_like(u)))
        calls["DLPack's C functions: fourways_aot"] = (lambda: fourways_aot.stencil(ours, theirs), theirs)
    heat.step(u, v)
    right = v.copy()
    for name, (call, written) in calls.items():
        v.fill(np.nan)
        call()
        assert bool((cp.asarray(written) == right).all()), f"{name}: another result"
    timed = {name: (call, launches) for name, (call, _) in calls.items()}
    in_cpp = "a launch in C++"
    other = v.copy()
    timed[in_cpp] = (lambda: heat.step_at(other.data.ptr, v.data.ptr, side, side, launches), 1)

    def sample(call: Callable[[], Any], repeats: int) -> float:
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        return (time.perf_counter() - start) / launches

    samples = measuring.sampled({name: functools.partial(sample, *work) for name, work in timed.items()}, 22, warm_up=1)
    cp.cuda.Device().synchronize()
    rows: list[Row] = [{"array": name, "clock": "host", "seconds": summary(taken)} for name, taken in samples.items()]
    rows = sorted(rows, key=lambda row: row["seconds"]["median"])
    raw = next(row["seconds"]["median"] for row in rows if row["array"] == in_cpp)
    rows = [row | {"times": row["seconds"]["median"] / raw} for row in rows]
    columns: list[Column] = [("how the arrays come", "array"), "seconds", "times"]
    return Table("ladder", rows, columns, f"Host clock, {launches} launches a sample.")


def loops(heat: Any, steps: int = 1000, sides: Sequence[int] = (256, 4096)) -> Table:
    """Time the steps of square plates until the GPU is done (host clock): loops in Python, in C++, as a CUDA graph.

    `heat` is the lesson's module. The note has the time of one step's kernel (device clock).
    Raises AssertionError if the loops differ in their result.
    """
    import cupy as cp

    rows: dict[str, Row] = {}
    kernel: list[str] = []
    for side in sides:
        start = cp.random.default_rng(1).random((side, side), dtype=cp.float32)
        plates = {name: (start.copy(), start.copy()) for name in ("Python", "C++", "CUDA graph")}
        graph, result = _recorded(heat, *plates["CUDA graph"], steps)
        calls: dict[str, Callable[[], Any]] = {
            "Python": functools.partial(_loop_in_python, heat.step, *plates["Python"], steps),
            "C++": functools.partial(heat.step, *plates["C++"], steps),
            "CUDA graph": graph.launch,
        }
        results = [calls["Python"](), calls["C++"]()]
        graph.launch()
        assert all(bool((each == result).all()) for each in results), "the loops differ"
        spare = start.copy()
        samples = measuring.device_seconds(functools.partial(heat.step, start, spare))
        kernel.append(f"{seconds(summary(samples)['median'])} on {side}²")
        for name, call in calls.items():
            row = rows.setdefault(name, {"loop": name, "clock": "host"})
            row[f"{side}²_seconds"] = summary(measuring.host_seconds(measuring.until_done(call)))
    columns: list[Column] = [("loop in", "loop")]
    columns += [(f"{steps:,} steps, {side}²", f"{side}²_seconds") for side in sides]
    note = f"Host clock, until the GPU is done. One kernel, device clock: {', '.join(kernel)}."
    return Table("thousand_steps", list(rows.values()), columns, note)


def _loop_in_python(step: Callable[[Any, Any], Any], u: Any, v: Any, steps: int) -> Any:
    for _ in range(steps):
        step(u, v)
        u, v = v, u
    return u


def _recorded(heat: Any, u: Any, v: Any, steps: int) -> tuple[Any, Any]:
    """Return a CUDA graph (`cupy.cuda.Graph`) of all steps, and the array in which its result will lie."""
    import cupy as cp

    with cp.cuda.Stream(non_blocking=True) as stream:
        stream.begin_capture()
        result = heat.step(u, v, steps, stream.ptr)
        return stream.end_capture(), result


def counting_meanwhile(calls: Mapping[str, Callable[[], Any]]) -> Table:
    """Call each function once, and tell how far another Python thread counts until it returns (host clock)."""
    import cupy as cp

    rows: list[Row] = []
    for name, call in calls.items():
        count, stop = [0], threading.Event()

        def work(count: list[int] = count, stop: threading.Event = stop) -> None:
            while not stop.is_set():
                count[0] += 1

        thread = threading.Thread(target=work)
        thread.start()
        before, start = count[0], time.perf_counter()
        call()
        counted, elapsed = count[0] - before, time.perf_counter() - start
        stop.set()
        thread.join()
        cp.cuda.Device().synchronize()
        rows.append({"call": name, "clock": "host", "seconds": elapsed, "counted_meanwhile": counted})
    columns: list[Column] = ["call", ("took", "seconds"), "counted_meanwhile"]
    return Table("gil", rows, columns, "Host clock, one call each.")
