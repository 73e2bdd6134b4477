"""CUDA's built-in functions: calls and their right answers, as one kernel file that a GPU and the host way can run."""

import re
from pathlib import Path

import numpy as np

TABLE = (Path(__file__).parent / "data" / "builtins_of_cuda.txt").read_text(encoding="utf-8")
SCALARS = [
    (call, float(answer), float(error or 0))
    for call, answer, error in re.findall(r"(?m)^([^#\n].*?)  is (\S+)(?: within (\S+))?$", TABLE)
]
"""Calls of one thread: an expression, its value, and the relative error that is allowed."""

LANES = np.arange(64)
_WARP = LANES // 32
_ODD = LANES % 2 == 1
TOGETHER: list[tuple[str, np.ndarray]] = [
    (
        "__ballot_sync(~0u, i % 3 == 0)",
        np.array([sum(1 << k for k in range(32) if (32 * w + k) % 3 == 0) for w in _WARP]),
    ),
    ("__any_sync(~0u, i == 40) != 0", _WARP == 1),
    ("__all_sync(~0u, i >= 32) != 0", _WARP == 1),
    ("__match_any_sync(~0u, i % 2)", np.where(_ODD, 0xAAAAAAAA, 0x55555555)),
    ("__match_any_sync(~0u, (i % 2) * 0.5)", np.where(_ODD, 0xAAAAAAAA, 0x55555555)),
    (
        "[=] { int all; auto mask = __match_all_sync(~0u, i / 32, &all); return mask + (all != 0) * 4294967296.0; }()",
        np.full(64, 2.0**33 - 1),
    ),
    ("[=] { int all; auto mask = __match_all_sync(~0u, i, &all); return mask + (all != 0); }()", np.zeros(64)),
    ("__reduce_add_sync(~0u, i)", np.where(_WARP, 1520, 496)),
    ("__reduce_add_sync(~0u, (unsigned)i)", np.where(_WARP, 1520, 496)),
    ("__reduce_min_sync(~0u, -i)", np.where(_WARP, -63, -31)),
    ("__reduce_max_sync(~0u, -i)", np.where(_WARP, -32, 0)),
    ("__reduce_max_sync(~0u, (unsigned)i)", np.where(_WARP, 63, 31)),
    ("__reduce_and_sync(~0u, 96u + i)", np.where(_WARP, 128, 96)),
    ("__reduce_or_sync(~0u, (unsigned)i)", np.where(_WARP, 63, 31)),
    ("__reduce_xor_sync(~0u, 1u << i % 32)", np.full(64, 2**32 - 1)),
    ("__shfl_sync(~0u, i * 0.5, 3)", (32 * _WARP + 3) * 0.5),
    ("__shfl_xor_sync(~0u, (float)i, 1)", LANES ^ 1),
    ("__syncthreads_count(i % 3 == 0)", np.full(64, 22)),
    ("(__syncthreads_and(i >= 0) != 0) + 2 * (__syncthreads_and(i < 63) != 0)", np.ones(64)),
    ("(__syncthreads_or(i > 63) != 0) + 2 * (__syncthreads_or(i == 63) != 0)", np.full(64, 2)),
]
"""Calls of all 64 threads of a block, by `i`, the thread's number; and what each thread gets."""

SOURCE = "\n".join(
    [
        "#include <cuda_fp16.h>",
        "template <class T> __device__ T run(T x) { volatile T later = x; return later; } // not known to the compiler",
        'extern "C" __global__ void alone(float *memory, double *y)',
        "{",
        *(
            f"    for (int i = 0; i < 4; ++i) memory[i] = 1.5f;\n    y[{n}] = (double)({call});"
            for n, (call, *_) in enumerate(SCALARS)
        ),
        "}",
        'extern "C" __global__ void together(double *y)',
        "{",
        "    const int i = threadIdx.x;",
        *(f"    y[{64 * n} + i] = (double)({call});" for n, (call, _) in enumerate(TOGETHER)),
        "}",
    ]
)


def misses(alone: np.ndarray, together: np.ndarray) -> list[str]:
    """The calls with a wrong answer, each with what came. Both arrays hold float64; `together` has 64 columns."""
    wrong = [
        f"{call}: {came!r}, not {right!r}"
        for (call, right, rtol), came in zip(SCALARS, alone.tolist(), strict=True)
        if not abs(came - right) <= rtol * abs(right)
    ]
    return wrong + [
        f"{call}: {came.tolist()}"
        for (call, right), came in zip(TOGETHER, together, strict=True)
        if not np.array_equal(came, right)
    ]
