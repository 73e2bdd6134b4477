// What is known of a file's kernels, their signatures, and a launch of one of them.
#pragma once

#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace fourways {
namespace {

// "float32", "const int64*", "float32x4*" (float4), "bytes2" (another type, of two bytes): what Python checks against.
template <class Value> std::string type_name()
{
    if constexpr (std::is_pointer_v<Value>) {
        using Element = std::remove_pointer_t<Value>;
        return (std::is_const_v<Element> ? "const " : "") + type_name<std::remove_cv_t<Element>>() + "*";
    } else if constexpr (std::is_same_v<Value, bool>)
        return "bool";
    else if constexpr (std::is_arithmetic_v<Value>)
        return (std::is_floating_point_v<Value> ? "float" : std::is_signed_v<Value> ? "int" : "uint") +
               std::to_string(8 * sizeof(Value));
    else if constexpr (std::is_void_v<Value>)
        return "bytes1";
    else if constexpr (requires(Value vector) { vector.x; })
        return type_name<decltype(Value::x)>() + "x" + std::to_string(sizeof(Value) / sizeof(Value::x));
    else
        return "bytes" + std::to_string(sizeof(Value));
}

template <auto function> struct Entry;
template <class... Values, void (*function)(Values...)> struct Entry<function> {
    static constexpr std::index_sequence_for<Values...> all{};

    template <std::size_t... index>
    static std::tuple<Values...> unpack(Arguments arguments, std::index_sequence<index...>)
    {
        return std::tuple<Values...>(*static_cast<const Values *>(arguments[index])...);
    }

    template <std::size_t... index> // not std::apply: a sanitizer's report would show its insides
    static void call(const std::tuple<Values...> &values, std::index_sequence<index...>)
    {
        function(std::get<index>(values)...);
    }

    static void run_thread(Arguments arguments) { call(unpack(arguments, all), all); }

    static void run_block(Arguments arguments)
    {
        const std::tuple<Values...> values = unpack(arguments, all);
        for (unsigned z = 0; z < blockDim.z; ++z)
            for (unsigned y = 0; y < blockDim.y; ++y)
                for (unsigned x = 0; x < blockDim.x; ++x) {
                    threadIdx = {x, y, z};
                    std::atomic_signal_fence(std::memory_order_seq_cst); // a signal's handler must find it right
                    call(values, all);
                    if (launch->threaded())
                        return;
                }
    }

    static Kernel kernel()
    {
        std::string signature;
        ((signature += (signature.empty() ? "" : ",") + type_name<Values>()), ...);
        return {signature, run_thread, run_block};
    }
};

const std::vector<Kernel> &kernels(); // fourways.host writes it after the kernels' text

std::string signatures() // a line for each kernel
{
    std::string lines;
    for (const Kernel &kernel : kernels())
        lines += kernel.signature + "\n";
    return lines;
}

// Runs kernel `number`; `shape` is the grid, then the block. Returns what went wrong: nothing, if it is empty.
std::string run(int number, const unsigned *shape, char *shared, std::size_t shared_bytes, Arguments arguments)
{
    gridDim = {shape[0], shape[1], shape[2]};
    blockDim = {shape[3], shape[4], shape[5]};
    dynamic_memory = shared;
    std::memset(shared, 0xFF, shared_bytes); // floats are NaN: what nobody wrote must not look right
    Launch now(kernels()[number], arguments);
    launch = &now;
    std::string problem;
    try {
        now.run();
    } catch (const std::exception &error) {
        problem = error.what();
    }
    std::fflush(stdout); // what the kernel printed
    return problem;
}

} // namespace
} // namespace fourways
