"""doublify in cuTile Python, and its export: python doublify.py sm_90 writes doublify_sm_90.cubin. Needs no GPU.

Wants Python packages that this project does not: pip install "cuda-tile[tileiras]==1.7.0"
"""

import sys
from pathlib import Path

import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, export_kernel

TILE = 1024


@ct.kernel
def doublify(x, y):
    tile = ct.load(x, (ct.bid(0),), (TILE,))
    ct.store(y, (ct.bid(0),), 2 * tile)


array = ArrayConstraint(
    ct.float32,
    1,
    index_dtype=ct.int64,
    stride_lower_bound_incl=0,
    alias_groups=(),
    may_alias_internally=False,
)
signature = KernelSignature([array, array], CallingConvention.cutile_python_v2(), symbol="doublify")
file = Path(__file__).with_name(f"doublify_{sys.argv[1]}.cubin")
export_kernel(doublify, [signature], file, gpu_code=sys.argv[1], output_format="cubin")
