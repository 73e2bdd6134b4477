"""Eight cheats and honest slips in a benchmark, each beside the honest call that it is compared with.

Every function takes `(*inputs, output)` on the GPU. Every cheat passes the usual check when it is called once.
"""

import functools
import itertools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fourways import checking
from fourways.experiments.judged import Judged
from fourways.ways import is_host

SIZE = 2**24
"""The elements of an input: as float32, 64 MiB. Three such arrays are larger than the L2 cache of an H200."""
IN_CACHE = 2**21
"""The elements of an input in the row "warm cache": three such float32 arrays, 24 MiB, fit into that cache."""
TOLERANCE = 1e-4
"""How far an answer may be off: as a difference in `Trial.passes`, and relative to the right one elsewhere."""

_CHUNK, _THREADS = 8192, 512  # elements of a block in saxpy, threads of a block
_COMPUTES = 20  # more calls than a check and a short warm-up make
_PAUSE, _BUSY = 3.0, 0.3  # seconds before an idle cheat, and before any other trial

SOURCE = r"""
extern "C" __global__ void saxpy(float a, const float *__restrict__ x, const float *__restrict__ y,
                                 float *__restrict__ z, long long n)
{
    const long long first = (long long)blockIdx.x * CHUNK, end = first + CHUNK < n ? first + CHUNK : n;
#ifdef REPLAY
    const bool answered = z[first] == a * x[first] + y[first];
    __syncthreads(); // no thread of this block writes before all have looked
    if (answered)
        return;
#endif
    for (long long i = first + threadIdx.x; i < end; i += blockDim.x)
#ifdef WRITE_NAN
        z[i] = 0.0f / 0.0f;
#else
        z[i] = a * x[i] + y[i];
#endif
}

extern "C" __global__ void add_rows(const float *x, float *sums, long long columns) // blockIdx.y is the row
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < columns)
        atomicAdd(&sums[i], x[blockIdx.y * columns + i]);
}

extern "C" __global__ void halve(float *x, float *z, long long n) // until the value is below 2
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float value = x[i];
    while (value >= 2)
        value *= 0.5f;
    z[i] = value;
#ifdef KEEP
    x[i] = value;
#endif
}
"""
"""The kernels. A macro turns an honest one into a cheat: REPLAY, WRITE_NAN or KEEP."""

Function = Callable[..., None]


@functools.cache
def _kernel(name: str, macro: str) -> Any:
    import cupy

    return cupy.RawModule(code=SOURCE, options=(f"-DCHUNK={_CHUNK}", f"-D{macro}")).get_function(name)


def _saxpy(a: Any, x: Any, y: Any, z: Any, macro: str = "HONEST") -> None:
    _kernel("saxpy", macro)((-(-x.size // _CHUNK),), (_THREADS,), (a, x, y, z, np.int64(x.size)))


def _halve(x: Any, z: Any, macro: str = "HONEST") -> None:
    _kernel("halve", macro)((-(-x.size // _THREADS),), (_THREADS,), (x, z, np.int64(x.size)))


def _add_rows(x: Any, sums: Any) -> None:
    rows, columns = x.shape
    _kernel("add_rows", "HONEST")((-(-columns // _THREADS), rows), (_THREADS,), (x, sums, np.int64(columns)))


def _clear_and_add_rows(x: Any, sums: Any) -> None:
    sums.fill(0)
    _add_rows(x, sums)


def _on_another_stream() -> Function:
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)

    def call(*arrays: Any) -> None:
        with stream:
            _saxpy(*arrays)

    return call


def _only_at_first() -> Function:
    calls = itertools.count(1)

    def call(*arrays: Any) -> None:
        if next(calls) <= _COMPUTES:
            _saxpy(*arrays)

    return call


class Problem(NamedTuple):
    """What is computed: `make_inputs(size, seed)` gives NumPy arrays and scalars, `reference(*inputs)` the output."""

    make_inputs: Callable[[int, int], tuple]
    reference: Callable[..., np.ndarray]


SAXPY = Problem(
    lambda size, seed: (np.float32(2.5), *np.random.default_rng(seed).random((2, size), np.float32)),
    lambda a, x, y: (np.float64(a) * x + y).astype(np.float32),
)
ROWS = Problem(  # small whole numbers: their sums are exact, in any order
    lambda size, seed: (np.random.default_rng(seed).integers(1, 9, (2, size // 2)).astype(np.float32),),
    lambda x: x.sum(axis=0),
)
HALVE = Problem(  # from 2^100 on: a hundred halvings of every element
    lambda size, seed: (np.ldexp(1 + np.random.default_rng(seed).random(size, np.float32) / 2, 100),),
    lambda x: 2 * np.frexp(x)[0],
)


class Cheat(NamedTuple):
    """A cheat beside an honest call of the same problem. `means` says in a sentence what the cheat does.

    `cheat()` and `honest()` make the functions to time, each with a state of its own. `size` is in elements. The honest
    function takes `sets` sets of arrays in turn. An `idle` cheat is timed after a pause.
    """

    name: str
    means: str
    problem: Problem
    cheat: Callable[[], Function]
    honest: Callable[[], Function]
    size: int = SIZE
    sets: int = 1
    idle: bool = False


def _given(function: Function, **options: str) -> Callable[[], Function]:
    return lambda: functools.partial(function, **options)


_honest = _given(_saxpy)
CHEATS = (
    Cheat("answer replayed", "A block returns at once where the output already holds the answer.",
          SAXPY, _given(_saxpy, macro="REPLAY"), _honest),
    Cheat("other stream", "The work is queued on a stream of its own, where the events of a timer do not see it.",
          SAXPY, _on_another_stream, _honest),
    Cheat("not cleared", "The kernel adds to an output that nobody clears, so only its first answer is right.",
          ROWS, _given(_add_rows), _given(_clear_and_add_rows)),
    Cheat("NaN", "The kernel reads nothing and writes NaN. `(abs(got - want) > tolerance).any()` is false for NaN.",
          SAXPY, _given(_saxpy, macro="WRITE_NAN"), _honest),
    Cheat("warm cache", "The same small arrays are used again and again; the honest call changes to others each time.",
          SAXPY, _honest, _honest, size=IN_CACHE, sets=16),
    Cheat("warm-up only", f"The function counts its calls, and launches nothing after the first {_COMPUTES}.",
          SAXPY, _only_at_first, _honest),
    Cheat("changed input", "The kernel replaces its input by the answer: later calls have less work, and are right.",
          HALVE, _given(_halve, macro="KEEP"), _given(_halve)),
    Cheat("idle clock", f"The honest call, timed after a pause of {_PAUSE:.0f} s in which the GPU may lower its clock.",
          HALVE, _given(_halve), _given(_halve), idle=True),
)  # fmt: skip


class Trial:
    """One function of a cheat with its arrays: `call()` runs it once, and does not wait.

    `is_honest` chooses the honest function. `size` is in elements, by default the cheat's. `way` says where the arrays
    lie, as for `checking.place`. `function` takes other arrays, too; `output` is the array that the first call writes.
    """

    def __init__(self, cheat: Cheat, is_honest: bool, size: int | None = None, way: str = "gpu") -> None:
        self.cheat, self._size, self._way, self._turn = cheat, size or cheat.size, way, 0
        self.function = (cheat.honest if is_honest else cheat.cheat)()
        inputs = cheat.problem.make_inputs(self._size, 0)
        self._expected = cheat.problem.reference(*inputs)
        self._sets = [Judged(way, inputs, self._expected, TOLERANCE) for _ in range(cheat.sets if is_honest else 1)]
        self._calls = [functools.partial(self.function, *judged.values) for judged in self._sets]
        self._pauses = cheat.idle and not is_honest
        self.output = self._sets[0].values[-1]

    def inputs(self, seed: int) -> list[Any]:
        """Return new inputs like those of `call`, where the function wants them."""
        return [checking.place(self._way, value) for value in self.cheat.problem.make_inputs(self._size, seed)]

    def honest(self) -> "Trial":
        """Return the honest function with arrays of its own."""
        return Trial(self.cheat, True, self._size, self._way)

    def call(self) -> None:
        """Run the function once, on the set of arrays whose turn it is."""
        self._calls[self._turn]()
        self._turn = (self._turn + 1) % len(self._calls)

    @property
    def next(self) -> Judged:
        """The arrays of the next call."""
        return self._sets[self._turn]

    def restore(self) -> None:
        """Poison the output of the next call."""
        self.next.restore()

    def problem(self) -> str | None:
        """Return what is wrong with the arrays of the last call, or None."""
        return self._sets[self._turn - 1].problem()

    def passes(self) -> bool:
        """Clear the outputs, run the function once, and check its answer as many benchmarks do: NaN passes."""
        for judged in self._sets:
            judged.values[-1].fill(0)
        self._wait()
        self.call()
        self._wait()
        got = checking.fetch(self._sets[self._turn - 1].values[-1])
        return not (abs(got - self._expected) > TOLERANCE).any()

    def settle(self) -> None:
        """Keep the GPU busy for a while, so that its clock is the usual one; before an idle cheat, pause."""
        if self._pauses:
            time.sleep(_PAUSE)
            return
        x, z = (checking.place(self._way, np.full(self._size, 2.0**100, np.float32)) for _ in range(2))
        end = time.perf_counter() + _BUSY
        while time.perf_counter() < end:
            _halve(x, z)
            self._wait()

    def _wait(self) -> None:
        """Wait for all streams of the GPU."""
        if not is_host(self._way):
            import cupy

            cupy.cuda.Device().synchronize()
