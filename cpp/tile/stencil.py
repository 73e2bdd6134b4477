"""stencil in cuTile Python, and its export: python stencil.py sm_90 writes stencil_sm_90.cubin. Needs no GPU.

Wants Python packages that this project does not: pip install "cuda-tile[tileiras]==1.7.0"
"""

import sys
from pathlib import Path

import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, export_kernel

ROWS, COLUMNS = 8, 128


@ct.kernel
def stencil(u, v):
    h, w = u.shape
    y = (ct.bid(1) * ROWS + ct.arange(ROWS, dtype=ct.int64))[:, None]
    x = (ct.bid(0) * COLUMNS + ct.arange(COLUMNS, dtype=ct.int64))[None, :]
    cell = ct.gather(u, (y, x))
    up_down = ct.gather(u, (y - 1, x)) + ct.gather(u, (y + 1, x))
    left_right = ct.gather(u, (y, x - 1)) + ct.gather(u, (y, x + 1))
    inside = (y > 0) & (y < h - 1) & (x > 0) & (x < w - 1)
    ct.scatter(v, (y, x), ct.where(inside, 0.25 * (up_down + left_right), cell))


plate = ArrayConstraint(
    ct.float32,
    2,
    index_dtype=ct.int64,
    stride_lower_bound_incl=0,
    alias_groups=(),
    may_alias_internally=False,
)
signature = KernelSignature([plate, plate], CallingConvention.cutile_python_v2(), symbol="stencil")
file = Path(__file__).with_name(f"stencil_{sys.argv[1]}.cubin")
export_kernel(stencil, [signature], file, gpu_code=sys.argv[1], output_format="cubin")
