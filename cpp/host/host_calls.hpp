// Calls of CUDA's runtime in host code that nvcc takes with a variable or a kernel, where C++ has the address alone.
// Host code never runs here: nothing defines these functions.

#pragma once

#define FOURWAYS_CALL(name) template <class... Any> cudaError_t name(Any &&...);
FOURWAYS_CALL(cudaMemcpyToSymbol)
FOURWAYS_CALL(cudaMemcpyToSymbolAsync)
FOURWAYS_CALL(cudaMemcpyFromSymbol)
FOURWAYS_CALL(cudaMemcpyFromSymbolAsync)
FOURWAYS_CALL(cudaGetSymbolAddress)
FOURWAYS_CALL(cudaGetSymbolSize)
FOURWAYS_CALL(cudaFuncGetAttributes)
FOURWAYS_CALL(cudaFuncSetAttribute)
FOURWAYS_CALL(cudaFuncSetCacheConfig)
FOURWAYS_CALL(cudaLaunchKernel)
FOURWAYS_CALL(cudaLaunchKernelEx)
FOURWAYS_CALL(cudaLaunchCooperativeKernel)
FOURWAYS_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
FOURWAYS_CALL(cudaOccupancyMaxPotentialBlockSize)
FOURWAYS_CALL(cudaOccupancyMaxPotentialBlockSizeVariableSMem)
#undef FOURWAYS_CALL
