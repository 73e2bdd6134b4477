// step(u, v, new_u, new_v, dt, steps=1, stream=None) returns the pair with the result

#include "field.hpp"
#include <pybind11/pybind11.h>
#include <vector>

namespace py = pybind11;
using namespace py::literals; // "u"_a is an argument called u

Field field(const std::string &name, const py::dict &told)
{
    if (told["typestr"].cast<std::string>() != TYPESTR)
        throw py::type_error(name + " has another dtype than " + TYPESTR);
    const py::tuple shape = told["shape"], data = told["data"];
    if (shape.size() != 2)
        throw py::value_error(name + " has not two dimensions");
    if (data[1].cast<bool>()) // inputs, too: the second step writes to them
        throw py::value_error(name + " is read-only");
    const auto h = shape[0].cast<long long>(), w = shape[1].cast<long long>();
    const py::object strides = told.attr("get")("strides");
    if (!strides.is_none() &&
        !strides.equal(py::make_tuple(w * sizeof(Number), sizeof(Number))))
        throw py::value_error(name + " has gaps or another order");
    return {(Number *)data[0].cast<size_t>(), h, w};
}

// CHANGE: arrays and numbers
py::object step(py::object u, py::object v, py::object new_u, py::object new_v,
                float dt, int steps, py::object stream)
{
    const std::vector<std::pair<std::string, py::object>> arrays = {
        {"u", u}, {"v", v}, {"new_u", new_u}, {"new_v", new_v}}; // CHANGE
    if (steps < 0)
        throw py::value_error("steps is negative");
    std::vector<Field> f;
    for (const auto &[name, array] : arrays) {
        const py::object told = py::getattr(array, "__cuda_array_interface__", py::none());
        if (told.is_none())
            throw py::type_error(name + " is not an array on the GPU");
        const Field here = field(name, told);
        const auto size = here.h * here.w;
        if (f.empty() && stream.is_none())
            stream = told.attr("get")("stream"); // of the first array: CuPy's current stream
        for (size_t k = 0; k < f.size(); ++k) {  // each array before this one
            if (here.h != f[k].h || here.w != f[k].w)
                throw py::value_error(arrays[k].first + " and " + name + " differ in shape");
            if (here.data < f[k].data + size && f[k].data < here.data + size)
                throw py::value_error(arrays[k].first + " and " + name + " share memory");
        }
        f.push_back(here);
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

PYBIND11_MODULE(pulse, m) // CHANGE: the name
{
    m.def("step", &step, "u"_a, "v"_a, "new_u"_a, "new_v"_a, "dt"_a, // CHANGE
          "steps"_a = 1, "stream"_a = py::none());
}
