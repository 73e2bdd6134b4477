#include "kernel.cuh"

int launch(const unsigned char *image, const float *table, float *out, long long n) // CHANGE
{
    if (n == 0) return 0; // a grid needs a block
    unsigned char *image_gpu = nullptr; // CHANGE
    float *table_gpu = nullptr, *out_gpu = nullptr; // CHANGE
    cudaMalloc(&image_gpu, n); // CHANGE
    cudaMalloc(&table_gpu, 256 * sizeof(float)); // CHANGE
    cudaMalloc(&out_gpu, n * sizeof(float)); // CHANGE
    cudaMemcpy(image_gpu, image, n, cudaMemcpyHostToDevice); // CHANGE
    cudaMemcpy(table_gpu, table, 256 * sizeof(float), cudaMemcpyHostToDevice); // CHANGE
    lookup<<<(n + 255) / 256, 256>>>(image_gpu, table_gpu, out_gpu, n); // CHANGE
    cudaMemcpy(out, out_gpu, n * sizeof(float), cudaMemcpyDeviceToHost); // CHANGE
    cudaFree(image_gpu); // CHANGE
    cudaFree(table_gpu); // CHANGE
    cudaFree(out_gpu); // CHANGE
    return cudaGetLastError(); // the last error of these calls, or 0
}
