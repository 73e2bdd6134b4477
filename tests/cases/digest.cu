// Three outputs of different sizes: of each group of 8 numbers the sum, the parities of all sums, and the last number.
extern "C" __global__ void digest(const unsigned *x, unsigned *sums, unsigned char parities[4], unsigned *last, int groups)
{
    const int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= groups)
        return;
    unsigned sum = 0;
    for (int i = 0; i < 8; ++i)
        sum += x[8 * group + i];
    sums[group] = sum;
    if (group < 4)
        parities[group] = sum % 2;
    if (group == groups - 1)
        *last = x[8 * group + 7];
}
