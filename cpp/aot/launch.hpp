// The launchers: what module.cpp calls and the .cu file of the same name defines.
// Each queues its kernel on a stream, for any size (0 too), and returns CUDA's verdict on the launch.
#pragma once

#include <cuda_runtime_api.h>

namespace fourways {

cudaError_t launch_doublify(const float *x, float *y, long long n, cudaStream_t stream);

} // namespace fourways
