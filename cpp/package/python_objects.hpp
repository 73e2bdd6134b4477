// What the binding asks of Python objects, whatever they are.
#pragma once

#include "argument.hpp"

#include <optional>
#include <pybind11/pybind11.h>

namespace fourways {

namespace py = pybind11;
using namespace py::literals; // "x"_a: an argument called x

// A name that every call asks for, made into a Python string once.
class Name {
  public:
    explicit Name(const char *name) : name_(PyUnicode_InternFromString(name)) {}
    PyObject *ptr() const { return name_; }

    // object.name, which must be there.
    py::object of(py::handle object) const
    {
        auto found = py::reinterpret_steal<py::object>(PyObject_GetAttr(object.ptr(), name_));
        if (!found)
            throw py::error_already_set();
        return found;
    }

    // The same, in a third of the time where C code keeps it: straight to the function that reads it.
    py::object field_of(py::handle object) const
    {
        const auto descriptor = in_type_of(object);
        if (!descriptor || !Py_IS_TYPE(descriptor.ptr(), &PyGetSetDescr_Type))
            return of(object);
        const auto &field = *reinterpret_cast<PyGetSetDescrObject *>(descriptor.ptr())->d_getset;
        auto found = py::reinterpret_steal<py::object>(field.get(object.ptr(), field.closure));
        if (!found)
            throw py::error_already_set();
        return found;
    }

    // object.name, or a null object where there is no such attribute. Other errors of its code pass through.
    py::object if_any(py::handle object) const
    {
        auto found = py::reinterpret_steal<py::object>(PyObject_GetAttr(object.ptr(), name_));
        if (!found && !PyErr_ExceptionMatches(PyExc_AttributeError))
            throw py::error_already_set();
        PyErr_Clear();
        return found;
    }

    // type(object).name as it stands in the class, or null: what Python looks up for every attribute, in 5 ns.
    py::handle in_type_of(py::handle object) const { return _PyType_Lookup(Py_TYPE(object.ptr()), name_); }

  private:
    PyObject *const name_; // kept for the life of the process
};

// str(object), whatever it is: an int may have too many digits for that.
inline std::string text(py::handle object)
{
    try {
        return py::str(object).cast<std::string>();
    } catch (py::error_already_set &) {
        return std::string("a ") + Py_TYPE(object.ptr())->tp_name + " that cannot be written";
    }
}

// A whole number of Python or NumPy, or none where it is another object, or beyond 64 bits.
inline std::optional<long long> int64(py::handle object)
{
    const long long value = PyLong_AsLongLong(object.ptr());
    if (value != -1 || !PyErr_Occurred())
        return value;
    PyErr_Clear();
    return {};
}

inline std::string type_name(py::handle object)
{
    const auto type = py::type::handle_of(object);
    const auto module = text(type.attr("__module__")), name = text(type.attr("__qualname__"));
    return module == "builtins" ? name : module + "." + name;
}

// In Python it arrives as a TypeError.
inline py::type_error type_error(const Argument &argument, const std::string &problem)
{
    return py::type_error(argument.about(problem));
}

} // namespace fourways
