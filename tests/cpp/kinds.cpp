// A binding with arguments of every kind, for the tests: it shows what arrives, and launches nothing.

#include "launch_arguments.hpp"

#include <cstring>

namespace fourways {

struct Knee {
    float start, slope;
    int order;
};

std::string shown;

template <class T> void bind_kind(py::module_ &m, const char *name)
{
    m.def(
        name, [name](py::object x) { shown = std::to_string(GpuArray<const T>(name, "x", x).size); }, "x"_a);
}

template <class T> void bind_whole(py::module_ &m, const char *name)
{
    m.def(
        name, [](T n) { shown = std::to_string(n); }, "n"_a.noconvert());
}

void bind_kinds(py::module_ &m)
{
    bind_kind<bool>(m, "array_bool");
    bind_kind<signed char>(m, "array_int8");
    bind_kind<unsigned char>(m, "array_uint8");
    bind_kind<short>(m, "array_int16");
    bind_kind<unsigned short>(m, "array_uint16");
    bind_kind<int>(m, "array_int32");
    bind_kind<unsigned>(m, "array_uint32");
    bind_kind<long>(m, "array_int64");
    bind_kind<unsigned long>(m, "array_uint64");
    bind_kind<long long>(m, "array_longlong");
    bind_kind<unsigned long long>(m, "array_ulonglong");
    bind_kind<float>(m, "array_float32");
    bind_kind<double>(m, "array_float64");
    bind_kind<float2>(m, "array_complex64");
    bind_kind<double2>(m, "array_complex128");
    bind_kind<Knee>(m, "array_knee");
    m.def(
        "knee",
        [](py::object knee) {
            Knee made;
            std::memcpy(&made, struct_bytes("knee", "knee", knee, sizeof made).data(), sizeof made);
            shown = std::to_string(made.start) + " " + std::to_string(made.slope) + " " + std::to_string(made.order);
        },
        "knee"_a);
    for (const char *name : {"grid", "block"})
        m.def(
            name,
            [name](py::object given) {
                const dim3 e = extent(name, name, given);
                shown = std::to_string(e.x) + " " + std::to_string(e.y) + " " + std::to_string(e.z);
            },
            py::arg(name));
    m.def(
        "number_float32", [](double n) { shown = std::to_string(as_float("number_float32", "n", n)); }, "n"_a);
    m.def(
        "number_float64", [](double n) { shown = std::to_string(n); }, "n"_a);
    m.def(
        "number_bool", [](bool n) { shown = std::to_string(n); }, "n"_a);
    bind_whole<int>(m, "number_int32");
    bind_whole<long long>(m, "number_int64");
    bind_whole<unsigned char>(m, "number_uint8");
    bind_whole<unsigned long long>(m, "number_uint64");
}

} // namespace fourways

extern "C" __attribute__((visibility("default"))) const char *shown() { return fourways::shown.c_str(); }
