// What Python sees: nb_mix.mix(x, y, out, low, high, stream=0), for arrays on the GPU.

#include "mix.h"
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;
using namespace nb::literals; // "x"_a is an argument called x

template <class T> using Array = nb::ndarray<T, nb::device::cuda, nb::c_contig>;

void mix(Array<const Number> x, Array<const Number> y, Array<Number> out, // CHANGE
         Number low, Number high, long long stream) // CHANGE
{
    if (x.size() != out.size() || y.size() != out.size()) // CHANGE
        throw nb::value_error("the arrays differ in size");
    const char *error = launch(x.data(), y.data(), out.data(), out.size(), // CHANGE
                               low, high, stream); // CHANGE
    if (error)
        throw std::runtime_error(error);
}

NB_MODULE(nb_mix, m) // CHANGE, with NAME in mix.py
{
    m.def("mix", &mix, "x"_a.noconvert(), "y"_a.noconvert(), "out"_a.noconvert(), // CHANGE
          "low"_a, "high"_a, // CHANGE: a number needs no noconvert, so 1 serves as 1.0
          "stream"_a = 0);
}
