#include <pybind11/pybind11.h>

int launch(const float *x, const float *y, float *out, long long n); // in launch.cu

void length(size_t x, size_t y, size_t out, long long n) // addresses on the GPU: checks nothing
{
    if (const int error = launch((float *)x, (float *)y, (float *)out, n))
        throw std::runtime_error("CUDA error " + std::to_string(error));
}

PYBIND11_MODULE(lengths, module)
{
    module.def("length", &length);
}
