// CUDA's error codes as Python exceptions.
#pragma once

#include <cuda_runtime_api.h>
#include <stdexcept>
#include <string>

namespace fourways {

#ifdef FOURWAYS_VERSION // in fourways_aot, not where another module takes these headers
#define DOCTOR "; `fourways doctor` says what is missing"
#else
#define DOCTOR ""
#endif

// What a person can do about the errors that say "wrong machine" or "wrong build".
inline const char *remedy(cudaError_t error)
{
    switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
        return " (it needs an NVIDIA GPU and a driver as new as this build's CUDA" DOCTOR ")";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
        return " (this build has no code for this GPU: build it again on this machine)";
    default:
        return "";
    }
}
#undef DOCTOR

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
