#define THREADS 128
namespace lab { namespace deep { constexpr int WIDE = 64;
__global__ void __launch_bounds__(WIDE) __cluster_dims__(2) named(float *x) { x[threadIdx.x] = 1; } } }
extern "C" __global__ void __launch_bounds__(THREADS, 2) plain(float *x) { x[threadIdx.x] = 1; }
extern "C" __global__ __launch_bounds__((THREADS > 64) ? 32 : 8) void chosen(float *x) { x[threadIdx.x] = 1; }
template <int N> __global__ void __launch_bounds__(N) instance(float *x) { x[threadIdx.x] = 1; }
extern "C" __global__ void __maxnreg__(32) free_(float *x) { x[threadIdx.x] = 1; }
