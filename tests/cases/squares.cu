// The squares of the first n numbers: a reference needs to know n.
extern "C" __global__ void squares(unsigned *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (unsigned)i * i;
}
