struct Knee { float low; double high[2]; float4 colour; };
__constant__ float taps[4];
extern "C" __global__ void mine(const float *x, float *y, int n, float gain, Knee knee)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = gain * x[i];
}
