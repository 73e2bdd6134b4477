// A binding with arguments of every kind, for the tests: it shows what arrives, and launches nothing.

#include "device_array.hpp"

#include <sstream>

namespace fourways {

struct Knee {
    float start, slope;
    int order;
};

template <> struct ElementOf<Knee> { static constexpr Element value{"", "", sizeof(Knee)}; };

std::string shown;

template <class T> void show(T number)
{
    std::ostringstream text;
    text.precision(17);
    if constexpr (sizeof(T) == 1)
        text << static_cast<int>(number);
    else
        text << number;
    shown = text.str();
}

template <class T> void bind_kind(py::module_ &m, const char *scalar, const char *array)
{
    if constexpr (std::is_arithmetic_v<T>)
        def(m, scalar, {"n"}, [](Call &call) { show(call.scalar<T>("n")); }, "");
    def(m, array, {"x"}, [](Call &call) { show(call.array<const T>("x").size); }, "");
}

void bind_kinds(py::module_ &m)
{
    bind_kind<bool>(m, "scalar_bool", "array_bool");
    bind_kind<signed char>(m, "scalar_int8", "array_int8");
    bind_kind<unsigned char>(m, "scalar_uint8", "array_uint8");
    bind_kind<short>(m, "scalar_int16", "array_int16");
    bind_kind<unsigned short>(m, "scalar_uint16", "array_uint16");
    bind_kind<int>(m, "scalar_int32", "array_int32");
    bind_kind<unsigned>(m, "scalar_uint32", "array_uint32");
    bind_kind<long>(m, "scalar_int64", "array_int64");
    bind_kind<unsigned long>(m, "scalar_uint64", "array_uint64");
    bind_kind<long long>(m, "scalar_longlong", "array_longlong");
    bind_kind<unsigned long long>(m, "scalar_ulonglong", "array_ulonglong");
    bind_kind<float>(m, "scalar_float32", "array_float32");
    bind_kind<double>(m, "scalar_float64", "array_float64");
    bind_kind<float2>(m, "", "array_complex64");
    bind_kind<double2>(m, "", "array_complex128");
    bind_kind<Knee>(m, "", "array_knee");
    const auto show_complex = [](auto z) { shown = std::to_string(z.x) + " " + std::to_string(z.y); };
    def(m, "scalar_complex64", {"n"}, [=](Call &call) { show_complex(call.scalar<float2>("n")); }, "");
    def(m, "scalar_complex128", {"n"}, [=](Call &call) { show_complex(call.scalar<double2>("n")); }, "");
    def(
        m, "knee", {"knee"},
        [](Call &call) {
            const auto knee = call.value<Knee>("knee");
            shown = std::to_string(knee.start) + " " + std::to_string(knee.slope) + " " + std::to_string(knee.order);
        },
        "");
    const auto show_extent = [](dim3 e) {
        shown = std::to_string(e.x) + " " + std::to_string(e.y) + " " + std::to_string(e.z);
    };
    def(m, "grid", {"grid"}, [=](Call &call) { show_extent(call.extent("grid")); }, "");
    def(m, "block", {"block"}, [=](Call &call) { show_extent(call.extent("block")); }, "");
    def(
        m, "sixteen", {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"},
        [](Call &call) { shown = std::to_string(call.scalar<int>("a")) + " " + std::to_string(call.scalar<int>("p")); },
        "sixteen");
}

} // namespace fourways

extern "C" __attribute__((visibility("default"))) const char *shown() { return fourways::shown.c_str(); }
