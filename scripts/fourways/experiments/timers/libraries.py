"""Eight timers, each called as its documentation shows.

A timer gets a function after one call whose answer was checked, as users do. No setting of the GPU is changed.
"""

import functools
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fourways import measuring, toolchain
from fourways.experiments.cheats import TOLERANCE, Trial
from fourways.tables import Row, summary

Samples = Sequence[float]
Makes = Mapping[str, Callable[[], Trial]]
"""What makes each trial, by name, right before it is timed. Raises ObjectionError if its first answer is wrong."""


class ObjectionError(Exception):
    """A timer, or the check before it, objects to a function. `samples` are the seconds that it measured, if any."""

    def __init__(self, words: str, samples: Samples = ()) -> None:
        super().__init__(words)
        self.samples = samples


def cupy_benchmark(trial: Trial) -> Samples:
    """Return the `gpu_times` of `cupyx.profiler.benchmark`: two events around each of 100 calls."""
    from cupyx.profiler import benchmark

    return benchmark(trial.call, n_repeat=100).gpu_times[0].tolist()


def torch_timer(trial: Trial) -> Samples:
    """Return the times of `torch.utils.benchmark.Timer`: the host's clock around blocks of calls and a wait."""
    from torch.utils.benchmark import Timer

    return Timer("call()", globals={"call": trial.call}).blocked_autorange().times


def do_bench(trial: Trial) -> Samples:
    """Return the times of `triton.testing.do_bench`: two events around each call, the L2 cache overwritten before."""
    from triton.testing import do_bench

    return [1e-3 * milliseconds for milliseconds in do_bench(_on_torch_stream(trial), return_mode="all")]


def do_bench_cudagraph(trial: Trial) -> Samples:
    """Return the times of `triton.testing.do_bench_cudagraph`: two events around a CUDA graph of many calls."""
    from triton.testing import do_bench_cudagraph

    return [1e-3 * milliseconds for milliseconds in do_bench_cudagraph(_on_torch_stream(trial), return_mode="all")]


def _on_torch_stream(trial: Trial) -> Callable[[], None]:
    """Return the call on PyTorch's current stream, of which CuPy does not know."""
    import cupy
    import torch

    def call() -> None:
        with cupy.cuda.Stream.from_external(torch.cuda.current_stream()):
            trial.call()

    return call


def kernelbench(trial: Trial) -> Samples:
    """Return times by the method of KernelBench: a re-implementation, because PyPI has no package of it.

    As in ScalingIntelligence/KernelBench, `src/kernelbench/eval.py`, the answers for five random inputs are compared by
    `torch.allclose`, and a mean time over ten times shorter than the reference's is flagged. The times are taken as by
    `time_execution_with_cuda_event` in `src/kernelbench/timing.py`. Here the function keeps its output between calls.
    """
    import torch

    honest = trial.honest()
    for seed in range(1, 6):
        inputs = trial.inputs(seed)
        for candidate in (honest, trial):
            candidate.function(*inputs, candidate.output)
            torch.cuda.synchronize()
        right, got = torch.as_tensor(honest.output), torch.as_tensor(trial.output)
        if not torch.allclose(right, got, atol=TOLERANCE, rtol=TOLERANCE):
            raise ObjectionError(f"output mismatch for inputs {seed} of 5")

    def times(call: Callable[[], None], warmup: int = 3, trials: int = 100) -> list[float]:
        for _ in range(warmup):
            call()
            torch.cuda.synchronize()
        samples = []
        for _ in range(1 + trials):  # the first one is discarded
            torch.cuda.synchronize()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.empty((32, 1024, 1024), dtype=torch.int64, device="cuda").fill_(42)  # 256 MiB empty the L2 cache
            start.record()
            call()
            end.record()
            torch.cuda.synchronize()
            samples.append(1e-3 * start.elapsed_time(end))
        return samples[1:]

    samples = times(trial.call)
    if (speedup := sum(times(honest.call)) / sum(samples)) > 10:
        raise ObjectionError(f"excessive speedup: {speedup:.0f} times the reference", samples)
    return samples


def timeit(trial: Trial) -> Samples:
    """Return the times of IPython's `%timeit call()`: the host's clock around loops of calls, without a wait."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.user_ns["call"] = trial.call
    return shell.run_line_magic("timeit", "-q -o call()").timings


def ours(trial: Trial) -> Samples:
    """Return the cold times of `measuring.measure`, with outputs restored before each call and judged at the end."""
    if unseen := trial.next.elsewhere(trial.call):
        raise ObjectionError(unseen)
    samples = measuring.device_seconds(trial.call, cold=True, before=trial.restore)
    if problem := trial.problem():
        raise ObjectionError(f"after the last timed call {problem}")
    return samples


def nvbench(makes: Makes) -> dict[str, Row]:
    """Return the cold times of NVIDIA's nvbench: two events around each call, the L2 cache overwritten before.

    All functions are registered before the one run that a process allows.
    """
    import cuda.bench as bench
    import cupy
    from cuda.bench.results import BenchmarkResult

    refused: dict[str, ObjectionError] = {}

    def benchmark(name: str, state: Any) -> None:
        try:
            trial = makes[name]()
        except ObjectionError as error:
            refused[name] = error
            return state.skip(str(error))

        def launcher(launch: Any) -> None:
            with cupy.cuda.Stream.from_external(launch.get_stream()):
                trial.call()

        return state.exec(launcher, batched=False)

    for name in makes:
        bench.register(functools.partial(benchmark, name)).set_name(name)
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        path = Path(folder, "results.json")
        bench.run_all_benchmarks(["timers", "--quiet", "--devices", "0", "--timeout", "2", "--jsonbin", str(path)])
        results = BenchmarkResult.from_json(path)

    def samples(name: str) -> Samples:
        if name in refused:
            raise refused[name]
        state = results[name][0]
        if state.samples is None:
            raise ObjectionError(state.skip_reason or "it gives no samples")
        return list(state.samples)

    return {name: _reported(functools.partial(samples, name)) for name in makes}


def _each(timer: Callable[[Trial], Samples]) -> Callable[[Makes], dict[str, Row]]:
    """Return a timer of many functions made of a timer of one."""

    def times(makes: Makes) -> dict[str, Row]:
        return {name: _reported(lambda make=make: timer(make())) for name, make in makes.items()}  # type: ignore[misc]

    return times


def _reported(measure: Callable[[], Samples]) -> Row:
    """Return what a timer reports: `seconds` (a summary) or None, and its `objection` or None."""
    try:
        return {"seconds": summary(measure()), "objection": None}
    except ObjectionError as error:
        return {"seconds": summary(error.samples) if error.samples else None, "objection": str(error)}
    except Exception as error:  # a library's own refusal
        return {"seconds": None, "objection": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"}


class Timer(NamedTuple):
    """A timer: `measure` returns what it reports, by name; it needs `modules`, which `remedy` brings."""

    measure: Callable[[Makes], dict[str, Row]]
    modules: tuple[str, ...] = ()
    remedy: str = toolchain.SETUP


_TORCH = "pip install torch 'cuda-toolkit==13.0.*'"
TIMERS = {
    "CuPy benchmark": Timer(_each(cupy_benchmark)),
    "PyTorch Timer": Timer(_each(torch_timer), ("torch",), _TORCH),
    "do_bench": Timer(_each(do_bench), ("torch", "triton"), _TORCH),
    "do_bench_cudagraph": Timer(_each(do_bench_cudagraph), ("torch", "triton"), _TORCH),
    "nvbench": Timer(nvbench, ("cuda.bench",), "pip install 'cuda-bench[cu13]'"),
    "KernelBench": Timer(_each(kernelbench), ("torch",), _TORCH),
    "%timeit": Timer(_each(timeit), ("IPython",)),
    "ours": Timer(_each(ours)),
}


def missing(name: str) -> str | None:
    """Return why a timer of `TIMERS` cannot run here, with the remedy, or None. Raises KeyError for another name."""
    absent = [module for module in TIMERS[name].modules if not toolchain.installed(module)]
    return f"{absent[0]} is not installed: {TIMERS[name].remedy}" if absent else toolchain.missing("gpu")
