// What Python sees: life.step(u, v, steps=1, stream=None) returns u or v, which holds the result.

#include <pybind11/pybind11.h>

namespace py = pybind11;
using namespace py::literals; // "u"_a is an argument called u

typedef unsigned char Cell;
const char *launch(Cell *u, Cell *v, long long h, long long w, int steps, long long stream);
struct World { Cell *cells; long long h, w, stream; };

World world(const std::string &name, const py::object &array)
{
    const py::object told = py::getattr(array, "__cuda_array_interface__", py::none()); // once
    if (told.is_none())
        throw py::type_error(name + " is not an array on the GPU");
    if (told["typestr"].cast<std::string>() != "|u1") // np.dtype("uint8").str
        throw py::type_error(name + " is not uint8");
    const py::tuple shape = told["shape"], data = told["data"];
    if (shape.size() != 2)
        throw py::value_error(name + " has not two dimensions");
    if (data[1].cast<bool>()) // u, too: the second step writes to it
        throw py::value_error(name + " is read-only");
    const auto h = shape[0].cast<long long>(), w = shape[1].cast<long long>();
    const py::object strides = told.attr("get")("strides"), stream = told.attr("get")("stream");
    if (!strides.is_none() && !strides.equal(py::make_tuple(w * sizeof(Cell), sizeof(Cell))))
        throw py::value_error(name + " has gaps or another order");
    return {(Cell *)data[0].cast<size_t>(), h, w, stream.is_none() ? 0 : stream.cast<long long>()};
}

py::object step(py::object u, py::object v, int steps, py::object stream)
{
    if (steps < 0)
        throw py::value_error("steps is negative");
    const World from = world("u", u), to = world("v", v);
    if (from.h != to.h || from.w != to.w)
        throw py::value_error("u and v differ in shape");
    if (from.cells < to.cells + to.h * to.w && to.cells < from.cells + from.h * from.w)
        throw py::value_error("u and v share memory");
    const auto on = stream.is_none() ? from.stream : stream.cast<long long>();
    const char *error = nullptr;
    {
        py::gil_scoped_release released; // other Python threads run until the closing brace
        error = launch(from.cells, to.cells, from.h, from.w, steps, on);
    }
    if (error)
        throw std::runtime_error(error);
    return steps % 2 ? v : u;
}

PYBIND11_MODULE(life, m)
{
    m.def("step", &step, "u"_a, "v"_a, "steps"_a = 1, "stream"_a = py::none());
}
