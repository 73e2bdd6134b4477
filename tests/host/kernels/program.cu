
// The old loop was asm (by hand); see out/*.cu
#include <cstdio>
#include <vector>
template <class T> __global__ void generic(const T *x, T *y) { y[threadIdx.x] = x[threadIdx.x] + T(1); }
extern "C" __global__ void wanted(const float *x, float *y, int by = (1, 2)) { y[threadIdx.x] = x[threadIdx.x] + by; }
namespace lab { __global__ void twice(const float *x, float *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; } }
extern "C" __global__ void broken(float *y) { y[0] = no_such_function(y[0]); }
extern "C" __global__ void with_ptx(float *y) { asm("trap;"); }
extern "C" __global__ void parent(float *y) { generic<float><<<1, 8>>>(y, y); }
__global__ static void unwanted(float *y) { y[0] = another_name; }
void check(cudaError_t error) { if (error) std::printf("<<< %s >>>\n", cudaGetErrorString(error)); }
int main()
{
    std::vector<float> x(8);
    float *a, *b;
    check(cudaMalloc(&a, 32)), check(cudaMalloc(&b, 32));
    check(cudaMemcpy(a, x.data(), 32, cudaMemcpyHostToDevice));
    generic<float><<<dim3(1), (x.size() + 7) / 8 * 8>>>(a, b);
    wanted<<<1, 8, 0, nullptr>>>(a, b, 3), lab::twice<<<1, 8>>>(a, b), unwanted<<<1, 1>>>(b);
    check(cudaDeviceSynchronize());
}
