// Whether an array's dtype is the element type that was asked for, and what to call it if not.
#pragma once

#include "array_protocols.hpp"
#include "element.hpp"

#include <cstdlib>
#include <utility>

namespace fourways {

// NumPy's dtype object of an element type, made once.
inline py::handle numpy_dtype(const Element &element)
{
    static std::vector<std::pair<const Element *, py::handle>> made; // for the life of the process
    for (const auto &[one, dtype] : made)
        if (one == &element)
            return dtype;
    return made.emplace_back(&element, py::module_::import("numpy").attr("dtype")(element.typestr).release()).second;
}

// An element without a name is any type of its size.
inline bool has_dtype(const Described &array, const Element &wanted)
{
    if (!array.dtype) {
        // NumPy's letters, by DataType::code; bfloat16 is no type of its own, but of ml_dtypes, whose string is <V2
        static constexpr char kinds[] = {'i', 'u', 'f', 0, 'V', 'c', 'b'};
        const auto [code, bits, lanes] = array.type;
        if (*wanted.name == 0)
            return bits * lanes == 8 * static_cast<int>(wanted.size);
        return code < sizeof(kinds) && wanted.typestr[1] == kinds[code] && lanes == 1 &&
               bits == 8 * static_cast<int>(wanted.size);
    }
    const bool name = PyUnicode_Check(array.dtype.ptr());
    if (*wanted.name && (name ? PyUnicode_CompareWithASCIIString(array.dtype.ptr(), wanted.typestr) == 0
                              : array.dtype.is(numpy_dtype(wanted))))
        return true;
    std::string type = text(name ? array.dtype : array.dtype.attr("str"));
    if (*wanted.name == 0) // "|V12": 12 bytes
        return type.size() > 2 && std::strtoull(type.c_str() + 2, nullptr, 10) == wanted.size;
    if (wanted.size == 1 && type[0] == '<') // a byte has no order
        type[0] = '|';
    return type == wanted.typestr;
}

// float64 rather than <f8. But f4 is f4, where <f4 is wanted: the protocol's type string begins with the byte order.
inline std::string dtype_name(const Described &array, const Element &wanted)
{
    if (!array.dtype) {
        static constexpr const char *names[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
        const auto [code, bits, lanes] = array.type;
        const bool known = code < std::size(names);
        return (known ? names[code] : "DLPack's type " + std::to_string(code) + " of bits ") +
               (known && bits == 8 && code == 6 ? "" : std::to_string(bits)) +
               (lanes == 1 ? "" : "x" + std::to_string(lanes));
    }
    const auto came = text(array.dtype);
    try {
        const auto name = text(py::module_::import("numpy").attr("dtype")(array.dtype));
        return name == wanted.name ? came + ", not " + wanted.typestr : name;
    } catch (py::error_already_set &) { // not a type of NumPy's
        return came;
    }
}

} // namespace fourways
