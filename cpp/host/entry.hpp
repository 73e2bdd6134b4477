// What fourways.host calls: the signatures of a file's kernels, and a launch, as a library or as a program.
// The last include of cuda_on_host.hpp.
#pragma once

#include <cstdio>
#include <fstream>
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
std::string run(int number, const unsigned *shape, std::size_t shared_bytes, Arguments arguments)
{
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    gridDim = {shape[0], shape[1], shape[2]};
    blockDim = {shape[3], shape[4], shape[5]};
    dynamic_memory.reset(new std::byte[shared_bytes]);
    std::memset(dynamic_memory.get(), 0xFF, shared_bytes); // floats are NaN: what nobody wrote must not look right
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

#ifndef FOURWAYS_MAIN

extern "C" [[gnu::visibility("default")]] const char *fourways_signatures()
{
    static const std::string lines = fourways::signatures();
    return lines.c_str();
}

extern "C" [[gnu::visibility("default")]] const char *fourways_launch(int number, const unsigned *shape,
                                                                      std::size_t shared_bytes, void **arguments)
{
    static thread_local std::string problem;
    problem = fourways::run(number, shape, shared_bytes, arguments);
    return problem.c_str();
}

#else

// Without a file: prints the signatures. With one: reads a launch from it (Program.launch in
// scripts/fourways/host/launch.py writes it), runs it, and puts the memory in its place. Every block of memory is an
// allocation of its exact size, so that AddressSanitizer sees the first byte past its end.
int main(int count, char **argv)
{
    if (count < 2)
        return std::fputs(fourways::signatures().c_str(), stdout) < 0;
    std::fstream file(argv[1], std::ios::in | std::ios::out | std::ios::binary);
    const auto word = [&] {
        long long value = 0;
        file.read(reinterpret_cast<char *>(&value), sizeof value);
        return value;
    };
    const int number = word();
    unsigned shape[6];
    for (unsigned &extent : shape)
        extent = word();
    const std::size_t shared_bytes = word();
    std::vector<std::pair<std::unique_ptr<char[]>, long long>> memory(word());
    for (auto &[bytes, size] : memory) {
        size = word();
        bytes.reset(new char[size]);
        file.read(bytes.get(), size);
    }
    std::vector<void *> places(word()), arguments;
    for (void *&place : places) { // an argument is a block of memory itself, or a pointer to one
        place = memory[word()].first.get();
        arguments.push_back(word() ? &place : place);
    }
    const std::string problem = fourways::run(number, shape, shared_bytes, arguments.data());
    std::fputs(problem.c_str(), stderr);
    file.seekp(0);
    for (auto &[bytes, size] : memory)
        file.write(bytes.get(), size);
    file.flush();
    return problem.empty() && file ? 0 : 1;
}

#endif
