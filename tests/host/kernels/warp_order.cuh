// Each of 32 threads adds up what the threads before it brought, through shared memory. FIRST and SECOND stand between
// the read and the write of a step, and between the steps.
extern "C" __global__ void running_sum(const float *x, float *y)
{
    __shared__ float sum[32];
    const int t = threadIdx.x;
    sum[t] = x[t];
    __syncwarp();
    for (int distance = 1; distance < 32; distance *= 2) {
        const float more = t >= distance ? sum[t - distance] : 0;
        FIRST;
        sum[t] += more;
        SECOND;
    }
    y[t] = sum[t];
}
