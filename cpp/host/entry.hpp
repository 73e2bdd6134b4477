// What a kernel's unit tells of its kernels: their signatures, and how one thread or one block is run; its variables.
// `fourways_signature` comes before it, from scripts/fourways/kernels/signatures.py.
#pragma once

#include <utility>

#include "runtime.hpp"

namespace fourways {

template <auto function> struct Entry;
template <class... Values, void (*function)(Values...)> struct Entry<function> {
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

    using Told = typename fourways_signature::of_<void(Values...)>::signature_;
    static constexpr Kernel kernel = {&typeid(Told), run_thread, run_block};
};

// A kernel with the numbers in the brackets of its __launch_bounds__ and __cluster_dims__.
struct Bounds {
    long long threads = 0, blocks = 0, cluster = 0;
};
struct Cluster {
    long long x = 0, y = 1, z = 1;
};
constexpr Kernel limited(Kernel kernel, Bounds bounds, Cluster cluster)
{
    kernel.limits = {bounds.threads, {cluster.x, cluster.y, cluster.z}};
    return kernel;
}

template <class Value> Variable variable(const char *name, Value &value)
{
    void *const place = const_cast<void *>(static_cast<const volatile void *>(&value));
    return {name, place, std::is_const_v<std::remove_all_extents_t<Value>> ? 0 : sizeof value};
}

} // namespace fourways
