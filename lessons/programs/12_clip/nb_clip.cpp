// What Python sees: nb_clip.clip(x, y, low, high, stream=0), for float32 arrays on the GPU.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;
using namespace nb::literals; // "x"_a is an argument called x

typedef float Number; // CHANGE, here and in clip.cu: double is float64, int is int32
template <class T> using Array = nb::ndarray<T, nb::device::cuda, nb::c_contig>;

extern "C" const char *launch(const Number *x, Number *y, long long n,
                              float low, float high, long long stream); // CHANGE

void clip(Array<const Number> x, Array<Number> y, float low, float high, // CHANGE
          long long stream)
{
    if (x.size() != y.size())
        throw nb::value_error("x and y differ in size");
    const char *error = launch(x.data(), y.data(), x.size(), low, high, stream); // CHANGE
    if (error)
        throw std::runtime_error(error);
}

NB_MODULE(nb_clip, m) // CHANGE, with the name in clip.py
{
    m.def("clip", &clip, "x"_a.noconvert(), "y"_a.noconvert(), "low"_a, "high"_a, // CHANGE
          "stream"_a = 0);
}
