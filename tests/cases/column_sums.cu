// The sum of each column of a matrix of rows x columns, a thread a column.
extern "C" __global__ void column_sums(const int *__restrict__ x, long long *__restrict__ sums, int rows, int columns)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;
    long long sum = 0;
    for (int row = 0; row < rows; ++row)
        sum += x[(long long)row * columns + column];
    sums[column] = sum;
}
