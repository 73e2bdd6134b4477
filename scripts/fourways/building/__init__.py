"""Compile a kernel by NVRTC or nvcc. Needs no GPU and no driver."""

from fourways.building.compile import COMPILERS, Build, BuildError, build, rows, table
from fourways.building.signature import KEPT, Told, symbol, told
