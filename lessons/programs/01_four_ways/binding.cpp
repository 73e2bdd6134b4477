#include <pybind11/pybind11.h>

// CHANGE, as in launch.cu
int launch(const float *x, const float *y, float z, float *out, long long n);

// CHANGE: addresses on the GPU, unchecked
void launch_at(size_t x, size_t y, float z, size_t out, long long n)
{
    if (const int error = launch((float *)x, (float *)y, z, (float *)out, n)) // CHANGE
        throw std::runtime_error("CUDA error " + std::to_string(error));
}

PYBIND11_MODULE(mine, module)
{
    module.def("launch", &launch_at);
}
