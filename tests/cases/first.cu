// As many public kernels are written: void first, no extern "C", a default argument, a name of Python's.
__global__ static void first(float *y, int *index, float *x, int lambda, float by = 2)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < lambda)
        y[i] = by * x[index[i]];
}
