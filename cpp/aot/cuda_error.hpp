// CUDA's error codes as Python exceptions.
#pragma once

#include <cuda_runtime_api.h>
#include <stdexcept>
#include <string>

namespace fourways {

// What a person can do about the errors that say "wrong machine" or "wrong build".
inline const char *remedy(cudaError_t error)
{
    switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
        return " (it needs an NVIDIA GPU and a driver as new as this build's CUDA; "
               "`fourways doctor` says what is missing)";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
        return " (fourways_aot.built_for names the architectures of this build; build it again on this machine)";
    default:
        return "";
    }
}

// Throws what pybind11 turns into a RuntimeError, "who: cudaErrorName: text", unless all is well.
// The error is cleared, or the next launch would find it and take it for its own.
inline void check(cudaError_t error, const char *who)
{
    if (error == cudaSuccess)
        return;
    cudaGetLastError();
    throw std::runtime_error(std::string(who) + ": " + cudaGetErrorName(error) + ": " + cudaGetErrorString(error) +
                             remedy(error));
}

} // namespace fourways
