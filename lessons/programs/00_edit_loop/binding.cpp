#include <pybind11/numpy.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace py = pybind11;
template <typename T> using rows = py::array_t<T, py::array::c_style>; // without gaps

// CHANGE: the launch's and the function's arguments, and the checks
int launch(const unsigned char *image, const float *table, float *out, long long n);

py::array_t<float> lookup(rows<unsigned char> image, rows<float> table)
{
    if (table.size() != 256) throw std::invalid_argument("the table needs 256 numbers");
    const std::vector<py::ssize_t> shape(image.shape(), image.shape() + image.ndim());
    py::array_t<float> out(shape);
    const int error = launch(image.data(), table.data(), out.mutable_data(), image.size());
    if (error) throw std::runtime_error("CUDA error " + std::to_string(error));
    return out;
}

PYBIND11_MODULE(lookups, module)
{
    module.def("lookup", &lookup); // CHANGE
}
