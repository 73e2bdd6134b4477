// An instance of a template, in a namespace, beside a kernel that is not asked for.
namespace lab {
template <class T, int FACTOR> __global__ void __launch_bounds__(256) scale(const T *x, T *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = FACTOR * x[i];
}
}

__global__ void not_asked_for(float *y) { *y = 0; }
