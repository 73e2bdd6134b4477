// A Python function of named objects, with `stream` as the last, which may be left out.
#pragma once

#include "python_objects.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace fourways {

constexpr size_t most_arguments = 16;
using Objects = std::array<PyObject *, most_arguments + 1>; // borrowed; the one after the arguments: the stream or null

struct Signature {
    std::string function;
    std::vector<const char *> arguments;

    std::string text() const
    {
        std::string list;
        for (const char *argument : arguments)
            list += std::string(argument) + ", ";
        return function + "(" + list + "stream=None)";
    }

    // From Python's vectorcall: `count` by position, then those of the tuple `keywords`, if there is one.
    Objects objects(PyObject *const *given, size_t count, PyObject *keywords) const
    {
        Objects objects{};
        const size_t stream = arguments.size();
        if (count > stream + 1)
            throw py::type_error(text() + " got " + std::to_string(count) + " arguments");
        std::copy_n(given, count, objects.begin());
        for (Py_ssize_t k = 0; keywords && k < PyTuple_GET_SIZE(keywords); ++k) {
            PyObject *const keyword = PyTuple_GET_ITEM(keywords, k);
            size_t i = 0;
            while (i <= stream &&
                   PyUnicode_CompareWithASCIIString(keyword, i < stream ? arguments[i] : "stream") != 0)
                ++i;
            if (i > stream)
                throw py::type_error(text() + " has no argument " + fourways::text(keyword));
            if (objects[i])
                throw py::type_error(text() + " got " + fourways::text(keyword) + " twice");
            objects[i] = given[count + k];
        }
        for (size_t i = 0; i < stream; ++i)
            if (!objects[i])
                throw py::type_error(text() + " got no " + arguments[i]);
        return objects;
    }
};

// Inside catch (...): the C++ exception becomes Python's, as pybind11 has it.
inline PyObject *raised()
{
    try {
        throw;
    } catch (py::error_already_set &error) {
        error.restore();
    } catch (const py::builtin_exception &error) { // py::type_error and its like
        error.set_error();
    } catch (const std::invalid_argument &error) {
        PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const std::exception &error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
    return nullptr;
}

} // namespace fourways
