"""The arguments of timed calls, with outputs that are restored before each sample and judged after the last one."""

import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fourways import checking
from fourways.ways import is_host

_PACK = 16  # bytes
_RESTORE = r"""
struct Span {
    const uint4 *from;
    uint4 *to;             // null for an input, which is only read
    long long packs, mask; // a mask of 0 writes the first pack of `from` everywhere, a mask of -1 copies `from`
};

// Reads each input and restores each output, all from their beginnings to their ends at the same time.
extern "C" __global__ void restore(const Span *spans, int count, long long longest, unsigned *scratch)
{
    unsigned sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < longest;
         i += (long long)gridDim.x * blockDim.x)
        for (int k = 0; k < count; ++k)
            if (i < spans[k].packs) {
                const uint4 pack = spans[k].from[i & spans[k].mask];
                if (spans[k].to)
                    spans[k].to[i] = pack;
                else
                    sum += pack.x ^ pack.y ^ pack.z ^ pack.w;
            }
    if (sum == 1) // without this the compiler would leave out the reads
        *scratch = sum;
}
"""


class Judged:
    """The arguments of timed calls: `values` are inputs, then outputs, in the way's memory; `nbytes` is their size.

    Call `restore` before each sample, outside of the time. It fills the outputs with poison, and those that `in_place`
    names with their input. Otherwise a kernel could find its answer in the output of the sample before. Call `problem`
    after the last sample: it also compares the inputs, so no call can leave itself less work. Call `elsewhere` once: it
    finds work that the events of a timer do not see. The parameters are those of `checking.verdict`.

    On the GPU `restore` leaves the L2 cache as a call does that reads all inputs and writes all outputs. Arrays that
    fit are warm. If they do not fit, the cache holds the ends of all arrays, and the ends of the outputs are not yet
    written back to memory. On the CPU `restore` only writes the outputs.
    """

    def __init__(
        self,
        way: str,
        inputs: tuple,
        expected: checking.Expected,
        rtol: float = 0.0,
        in_place: Mapping[int, int] = {},
        atol: float = 0.0,
    ):
        fresh = checking.fresh_outputs(inputs, expected, in_place)
        placed = [checking.place(way, value) for value in inputs]
        self._expected, self._rtol, self._atol = expected, rtol, atol
        # on the CPU a call gets `inputs` themselves, and could change them
        self._before = [value.copy() if is_host(way) and isinstance(value, np.ndarray) else value for value in inputs]
        self._sources: list[Any] = fresh  # `restore` copies them into the outputs
        self._table: Any = None
        if is_host(way):
            self._outputs: list[Any] = [output.copy() for output in fresh]
        else:
            self._place_on_gpu(placed, fresh)
        self.values = (*placed, *self._outputs)
        self.nbytes = sum(value.nbytes for value in (*inputs, *fresh) if isinstance(value, np.ndarray))

    def _place_on_gpu(self, inputs: list[Any], fresh: list[np.ndarray]) -> None:
        """Make the outputs and their sources on the GPU, and the table that the kernel `restore` reads."""
        import cupy

        self._outputs, self._sources = [], []
        arrays = [value for value in inputs if isinstance(value, cupy.ndarray)]
        spans = [(array.data.ptr, 0, array.nbytes // _PACK, -1) for array in arrays]
        for before in fresh:
            octets = np.ascontiguousarray(before).reshape(-1).view(np.uint8)
            packs = np.resize(octets, -(-octets.size // _PACK) * _PACK).view(np.uint64).reshape(-1, 2)
            whole = cupy.asarray(packs)
            is_uniform = bool((packs == packs[:1]).all())  # poison is uniform
            source = (whole[:1] if is_uniform else whole).copy()
            spans.append((source.data.ptr, whole.data.ptr, len(packs), 0 if is_uniform else -1))
            self._sources.append(source)
            inside = whole.view(np.uint8).reshape(-1)[: octets.size]
            self._outputs.append(inside.view(before.dtype).reshape(before.shape))
        self._count, self._longest = np.int32(len(spans)), np.int64(max(packs for _, _, packs, _ in spans))
        self._table, self._scratch = cupy.asarray(np.array(spans, np.int64)), cupy.zeros(1, np.uint32)

    def restore(self) -> None:
        """Restore the outputs; on the GPU by a kernel on CuPy's current stream, without waiting for it."""
        if self._table is None:
            for output, source in zip(self._outputs, self._sources, strict=True):
                output[...] = source
        else:
            _kernel()((1024,), (256,), (self._table, self._count, self._longest, self._scratch))

    def problem(self) -> str | None:
        """Wait for the GPU, and return what is wrong with the outputs or the inputs now, or None."""
        got = [checking.fetch(output) for output in self._outputs]
        return checking.compare_all(got, self._expected, self._rtol, self._atol) or self._changed()

    def _changed(self) -> str | None:
        """Return a line on the first input that a call has changed, or None."""
        for number, (before, now) in enumerate(zip(self._before, self.values, strict=False)):
            if isinstance(before, np.ndarray) and not checking.same(checking.fetch(now), before):
                return f"its input number {number} is changed"
        return None

    def elsewhere(self, call: Callable[[], Any]) -> str | None:
        """Run `call`, and return a line if it works on another stream than CuPy's current one, or None.

        Two events enclose the work of their own stream only. Here a kernel occupies the current stream for 20 ms or
        more while `call` is queued behind it. An output that changes during this time was written by another stream.
        On the CPU, and for a `call` that itself waits for its work, the answer is None.
        """
        if self._table is None:
            return None
        import cupy

        from fourways import timing

        self.restore()
        before = [cupy.ndarray(output.nbytes, np.uint8, output.data).copy() for output in self._outputs]
        now = [cupy.empty_like(octets) for octets in before]
        beside = cupy.cuda.Stream(non_blocking=True)
        cupy.cuda.Device().synchronize()
        timing.busy(20e-3)
        occupied = cupy.cuda.get_current_stream().record()
        call()
        time.sleep(5e-3)  # for work elsewhere to begin
        for octets, output in zip(now, self._outputs, strict=True):
            octets.data.copy_from_device_async(output.data, output.nbytes, beside)
        beside.synchronize()
        is_early = not occupied.done
        cupy.cuda.Device().synchronize()
        if is_early and any(bool((a != b).any()) for a, b in zip(before, now, strict=True)):
            return "it works on another stream than CuPy's current one: events around it do not enclose its work"
        return None


@functools.cache
def _kernel() -> Any:
    import cupy

    return cupy.RawModule(code=_RESTORE).get_function("restore")
