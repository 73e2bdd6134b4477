extern "C" __global__ void spin(float *x, int steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int step = 0; step < steps; ++step)
        value = fmaf(value, 0.5f, 1.0f);
    x[i] = value;
}
