"""The arguments of timed calls, with outputs that are restored before each sample and judged after the last one."""

import functools
from collections.abc import Mapping
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
    after the last sample. The parameters are those of `checking.verdict`.

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
        in_place: Mapping[int, int] | None = None,
        atol: float = 0.0,
    ):
        fresh = checking.fresh_outputs(inputs, expected, in_place or {})
        placed = [checking.place(way, value) for value in inputs]
        self._expected, self._rtol, self._atol = expected, rtol, atol
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
        """Wait for the GPU, and return what is wrong with the outputs now, or None."""
        got = [checking.fetch(output) for output in self._outputs]
        return checking.compare_all(got, self._expected, self._rtol, self._atol)


@functools.cache
def _kernel() -> Any:
    import cupy

    return cupy.RawModule(code=_RESTORE).get_function("restore")
