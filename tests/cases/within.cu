// Which of n numbers lie between two limits, or, asked so, outside of them.
extern "C" __global__ void within(const short *__restrict__ x, bool *__restrict__ found, size_t n, short low, short high,
                                  bool outside)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        found[i] = (low <= x[i] && x[i] <= high) != outside;
}
