// Reductions over the threads of a tile, on the CPU.
#pragma once

#include <cooperative_groups.h>

namespace cooperative_groups {

#define FOURWAYS_OPERATOR(name, result)                                                                                \
    template <class Value> struct name {                                                                               \
        Value operator()(const Value &a, const Value &b) const { return result; }                                      \
    };
FOURWAYS_OPERATOR(plus, a + b)
FOURWAYS_OPERATOR(less, b < a ? b : a)
FOURWAYS_OPERATOR(greater, a < b ? b : a)
FOURWAYS_OPERATOR(bit_and, a & b)
FOURWAYS_OPERATOR(bit_or, a | b)
FOURWAYS_OPERATOR(bit_xor, a ^ b)

template <unsigned Size, class Parent, class Value, class Operator>
Value reduce(const thread_block_tile<Size, Parent> &tile, Value value, Operator combine)
{
    for (unsigned distance = Size / 2; distance; distance /= 2)
        value = combine(value, tile.shfl_xor(value, distance));
    return value;
}

} // namespace cooperative_groups
