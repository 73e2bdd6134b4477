// The launchers: what NAME.hpp calls and NAME.cu defines.
// Each queues its kernel on a stream, for any size (0 too), and returns CUDA's verdict on the launch.
#pragma once

#include <cuda_runtime_api.h>

namespace fourways {

cudaError_t launch_colmeans(const float *x, float *means, long long batch, long long rows, long long columns,
                            cudaStream_t stream);
cudaError_t launch_apply_transform(const float *x, float *y, long long n, cudaStream_t stream);
cudaError_t launch_doublify(const float *x, float *y, long long n, cudaStream_t stream);
cudaError_t launch_saxpy(float a, const float *x, const float *y, float *z, long long n, cudaStream_t stream);
cudaError_t launch_reduce(const float *x, float *total, long long n, cudaStream_t stream);
cudaError_t launch_device_reduce(const float *x, float *total, long long n, cudaStream_t stream);
cudaError_t launch_scan(const float *x, float *y, long long rows, long long columns, cudaStream_t stream);
cudaError_t launch_device_scan(const float *x, float *y, long long n, cudaStream_t stream);
cudaError_t launch_long_scan(const float *x, float *y, long long n, cudaStream_t stream);
cudaError_t launch_stencil(const float *u, float *v, long long h, long long w, cudaStream_t stream);
// `steps` of them, u and v in turns: the last one writes v if `steps` is odd, else u.
cudaError_t launch_stencil_steps(float *u, float *v, long long h, long long w, long long steps, cudaStream_t stream);
cudaError_t launch_transpose(const float *a, float *b, long long h, long long w, cudaStream_t stream);

} // namespace fourways
