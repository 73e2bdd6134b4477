// What a kernel's unit tells of its kernels: their signatures, and how one thread or one block is run.
#pragma once

#include <type_traits>
#include <utility>

#include "runtime.hpp"

namespace fourways {

template <class Value> constexpr Type describe();
template <class Value> constexpr Type type = describe<Value>();

template <class Value> constexpr Type describe()
{
    if constexpr (std::is_pointer_v<Value>) {
        using Element = std::remove_pointer_t<Value>;
        return {"", 0, 0, &type<std::remove_cv_t<Element>>, std::is_const_v<Element>};
    } else if constexpr (std::is_same_v<Value, bool>)
        return {"bool"};
    else if constexpr (std::is_arithmetic_v<Value>)
        return {std::is_floating_point_v<Value> ? "float" : std::is_signed_v<Value> ? "int" : "uint", 8 * sizeof(Value)};
    else if constexpr (std::is_void_v<Value>)
        return {"bytes", 1};
    else if constexpr (requires(Value vector) { requires std::is_arithmetic_v<decltype(vector.x)>; })
        return {type<decltype(Value::x)>.kind, 8 * sizeof(Value::x), sizeof(Value) / sizeof(Value::x)};
    else
        return {"bytes", sizeof(Value)};
}

template <auto function> struct Entry;
template <class... Values, void (*function)(Values...)> struct Entry<function> {
    static constexpr const Type *parameters[sizeof...(Values) + 1] = {&type<Values>...};

    template <std::size_t... index>
    static void call(void (*run)(Values...), Arguments arguments, std::index_sequence<index...>)
    {
        run(*static_cast<const Values *>(arguments[index])...);
    }

    static void run_threads(Values... values)
    {
        for (unsigned z = 0; z < blockDim.z; ++z)
            for (unsigned y = 0; y < blockDim.y; ++y)
                for (unsigned x = 0; x < blockDim.x; ++x) {
                    threadIdx = {x, y, z};
                    __atomic_signal_fence(__ATOMIC_SEQ_CST); // a signal's handler must find it right
                    function(values...);
                    if (threaded)
                        return;
                }
    }

    static void run_thread(Arguments arguments) { call(function, arguments, std::index_sequence_for<Values...>()); }
    static void run_block(Arguments arguments) { call(run_threads, arguments, std::index_sequence_for<Values...>()); }

    static constexpr Kernel kernel = {parameters, sizeof...(Values), run_thread, run_block};
};

} // namespace fourways
