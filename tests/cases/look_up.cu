// Numbers from tables that the module holds: one is constant, one lies in a namespace, one is of structs.
struct Pair {
    short first;
    float second;
};

__constant__ float table[16];
__constant__ Pair pairs[2];
namespace lab {
__device__ int shift;
}

extern "C" __global__ void look_up(const int *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = table[(x[i] + lab::shift) % 16] + pairs[i % 2].first * pairs[i % 2].second;
}
