// What Python sees: pulse.step(u, v, new_u, new_v, dt, steps=1, stream=None) returns the pair with the result.

#include "pulse.hpp"
#include <pybind11/pybind11.h>

namespace py = pybind11;
using namespace py::literals; // "u"_a is an argument called u

py::dict dictionary(const std::string &name, const py::object &array)
{
    if (!py::hasattr(array, "__cuda_array_interface__"))
        throw py::type_error(name + " is not an array on the GPU");
    return array.attr("__cuda_array_interface__");
}

Field field(const std::string &name, const py::dict &told)
{
    if (told["typestr"].cast<std::string>() != "<f4") // CHANGE: np.dtype("float32").str
        throw py::type_error(name + " is not float32"); // CHANGE
    const py::tuple shape = told["shape"], data = told["data"];
    if (shape.size() != 2)
        throw py::value_error(name + " has not two dimensions");
    if (data[1].cast<bool>()) // u and v, too: the second step writes to them
        throw py::value_error(name + " is read-only");
    const auto h = shape[0].cast<long long>(), w = shape[1].cast<long long>();
    const py::object strides = told.attr("get")("strides");
    if (!strides.is_none() && !strides.equal(py::make_tuple(w * sizeof(Number), sizeof(Number))))
        throw py::value_error(name + " has gaps or another order");
    return {(Number *)data[0].cast<size_t>(), h, w};
}

py::object step(py::object u, py::object v, py::object new_u, py::object new_v, // CHANGE: arrays
                float dt, int steps, py::object stream)                         // and numbers
{
    if (steps < 0)
        throw py::value_error("steps is negative");
    const std::string names[] = {"u", "v", "new_u", "new_v"}; // CHANGE
    const py::object arrays[] = {u, v, new_u, new_v};         // CHANGE
    constexpr int count = 4;                                  // CHANGE
    Field f[count];
    for (int i = 0; i < count; ++i) {
        const py::dict told = dictionary(names[i], arrays[i]);
        f[i] = field(names[i], told);
        if (i == 0 && stream.is_none())
            stream = told.attr("get")("stream"); // CuPy's current stream
        for (int k = 0; k < i; ++k) { // each pair
            if (f[i].h != f[k].h || f[i].w != f[k].w)
                throw py::value_error(names[k] + " and " + names[i] + " differ in shape");
            const auto size = f[i].h * f[i].w;
            if (f[i].data < f[k].data + size && f[k].data < f[i].data + size)
                throw py::value_error(names[k] + " and " + names[i] + " share memory");
        }
    }
    const auto on = stream.is_none() ? 0 : stream.cast<long long>();
    const char *error = nullptr;
    {
        py::gil_scoped_release released; // other Python threads run until the closing brace
        error = launch(f[0], f[1], f[2], f[3], dt, steps, on); // CHANGE
    }
    if (error)
        throw std::runtime_error(error);
    return steps % 2 ? py::make_tuple(new_u, new_v) : py::make_tuple(u, v); // CHANGE
}

PYBIND11_MODULE(pulse, m) // CHANGE
{
    m.def("step", &step, "u"_a, "v"_a, "new_u"_a, "new_v"_a, "dt"_a, // CHANGE
          "steps"_a = 1, "stream"_a = py::none());
}
