"""Compile a kernel by NVRTC or nvcc. Needs no GPU and no driver."""

from fourways.building.compare import rows, table
from fourways.building.compile import COMPILERS, Build, BuildError, build
from fourways.building.signature import KEPT, Told, symbol, told
