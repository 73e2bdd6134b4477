// CUDA's atomic functions, for the CPU. Each has the variants _block and _system, which are no different here.
#pragma once

#include <type_traits>

namespace fourways {

// Relaxed, as on the GPU: an atomic orders nothing but itself.
template <class Value, class Change> [[gnu::always_inline]] inline Value update(Value *place, Change change)
{
    Value old, changed;
    __atomic_load(place, &old, __ATOMIC_RELAXED);
    do
        changed = change(old);
    while (!__atomic_compare_exchange(place, &old, &changed, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

template <class Value> using Same = std::type_identity_t<Value>; // converts, so that atomicAdd(&count, 1) compiles

} // namespace fourways

#define FOURWAYS_ATOMIC_NAME(name, change)                                                                             \
    template <class Value> Value name(Value *place, fourways::Same<Value> value)                                       \
    {                                                                                                                  \
        return fourways::update(place, [=]([[maybe_unused]] Value old) -> Value { return change; });                   \
    }
#define FOURWAYS_ATOMIC(name, change)                                                                                  \
    FOURWAYS_ATOMIC_NAME(name, change)                                                                                 \
    FOURWAYS_ATOMIC_NAME(name##_block, change) FOURWAYS_ATOMIC_NAME(name##_system, change)
FOURWAYS_ATOMIC(atomicAdd, old + value)
FOURWAYS_ATOMIC(atomicSub, old - value)
FOURWAYS_ATOMIC(atomicMax, old < value ? value : old)
FOURWAYS_ATOMIC(atomicMin, value < old ? value : old)
FOURWAYS_ATOMIC(atomicExch, value)
FOURWAYS_ATOMIC(atomicAnd, old & value)
FOURWAYS_ATOMIC(atomicOr, old | value)
FOURWAYS_ATOMIC(atomicXor, old ^ value)
FOURWAYS_ATOMIC(atomicInc, old < value ? old + 1 : 0)
FOURWAYS_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)

#define FOURWAYS_SWAP(name)                                                                                            \
    template <class Value> Value name(Value *place, fourways::Same<Value> expected, fourways::Same<Value> value)       \
    {                                                                                                                  \
        return fourways::update(place, [=](Value old) { return old == expected ? value : old; });                      \
    }
FOURWAYS_SWAP(atomicCAS)
FOURWAYS_SWAP(atomicCAS_block)
FOURWAYS_SWAP(atomicCAS_system)
