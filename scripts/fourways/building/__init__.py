"""Compile a kernel by NVRTC or nvcc, or a whole extension module by CMake. Needs no GPU and no driver."""

from fourways.building.cmake import build_binding, build_with_cmake
from fourways.building.compare import rows, table
from fourways.building.compile import COMPILERS, Build, BuildError, build
from fourways.building.resources import of_code
from fourways.building.signature import KEPT, Told, signatures, symbol, told
