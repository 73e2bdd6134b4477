// escape_time: how many steps each point of a picture takes to leave the circle of radius 2
//
// Compiled unchanged by NVRTC, NVCC and a C++ compiler with cpp/host/cuda_on_host.hpp.
// Pixel (row, column) is the point (left + column * pixel, top - row * pixel). 2D grids.
// Macros: STEPS, the most that are taken (default 256); PLUGIN, if defined, leaves
// user_step out: another unit defines it, and a linker joins the two.

#ifndef STEPS
#define STEPS 256
#endif

#ifdef PLUGIN
extern "C" __device__ float2 user_step(float2 z, float2 point);
#else
extern "C" __device__ float2 user_step(float2 z, float2 point) // of the Mandelbrot set
{
    return make_float2(z.x * z.x - z.y * z.y + point.x, 2 * z.x * z.y + point.y);
}
#endif

extern "C" __global__ void escape_time(float *__restrict__ steps, long long height,
                                       long long width, float left, float top, float pixel)
{
    const long long across = (long long)gridDim.x * blockDim.x;
    const long long down = (long long)gridDim.y * blockDim.y;
    const long long first_row = (long long)blockIdx.y * blockDim.y + threadIdx.y;
    const long long first_column = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (long long row = first_row; row < height; row += down)
#pragma unroll 1
        for (long long column = first_column; column < width; column += across) {
            const float2 point = make_float2(left + column * pixel, top - row * pixel);
            float2 z = point;
            int step = 0;
            for (; step < STEPS && z.x * z.x + z.y * z.y <= 4; ++step)
                z = user_step(z, point);
            steps[row * width + column] = step;
        }
}
