// Cooperative groups on the CPU: a block, and its tiles of up to 32 threads.
#pragma once

namespace cooperative_groups {

// A block, or a tile whose size is known at run time. `sync` names the kernel's line in a message, as __syncthreads does.
class thread_group {
protected:
    unsigned size_; // of a tile; 0: the whole block

    unsigned first() const { return size_ ? fourways::lane() / size_ * size_ : 0; } // lane of a tile
    unsigned mask() const { return (size_ < warpSize ? (1u << size_) - 1 : ~0u) << first(); }

public:
    explicit thread_group(unsigned size) : size_(size) {}
    void sync(int line = __builtin_LINE()) const
    {
        if (size_)
            __syncwarp(mask());
        else
            __syncthreads(line);
    }
    unsigned size() const { return size_ ? size_ : blockDim.x * blockDim.y * blockDim.z; }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return fourways::rank() % size(); }
};

class thread_block : public thread_group {
public:
    thread_block() : thread_group(0) {}
    static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
    static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
    static dim3 dim_threads() { return blockDim; }
    static dim3 group_dim() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

template <unsigned Size, class Parent = void> class thread_block_tile : public thread_group {
    static_assert(Size <= warpSize && !(Size & (Size - 1)),
                  "the host way has tiles of 1, 2, 4, 8, 16 and 32 threads: check this kernel on a GPU");
    unsigned among, of; // the tiles that its parent was divided into

public:
    thread_block_tile(unsigned among, unsigned of) : thread_group(Size), among(among), of(of) {}
    template <class Other>
    thread_block_tile(const thread_block_tile<Size, Other> &tile)
        : thread_block_tile(tile.meta_group_rank(), tile.meta_group_size())
    {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    static unsigned thread_rank() { return fourways::rank() % Size; }
    unsigned meta_group_rank() const { return among; }
    unsigned meta_group_size() const { return of; }

    template <class Value> Value shfl(Value value, int source) const { return __shfl_sync(mask(), value, source, Size); }
    template <class Value> Value shfl_up(Value value, unsigned distance) const
    {
        return __shfl_up_sync(mask(), value, distance, Size);
    }
    template <class Value> Value shfl_down(Value value, unsigned distance) const
    {
        return __shfl_down_sync(mask(), value, distance, Size);
    }
    template <class Value> Value shfl_xor(Value value, unsigned bits) const
    {
        return __shfl_xor_sync(mask(), value, bits, Size);
    }
    int any(int vote) const { return __any_sync(mask(), vote); }
    int all(int vote) const { return __all_sync(mask(), vote); }
    unsigned ballot(int vote) const { return __ballot_sync(mask(), vote) >> first(); }
    template <class Value> unsigned match_any(Value value) const { return __match_any_sync(mask(), value) >> first(); }
    template <class Value> unsigned match_all(Value value, int &all) const
    {
        return __match_all_sync(mask(), value, &all) >> first();
    }
};

template <unsigned Size, class Parent> thread_block_tile<Size, Parent> tiled_partition(const Parent &parent)
{
    return {parent.thread_rank() / Size, (parent.size() + Size - 1) / Size};
}
inline thread_group tiled_partition(const thread_group &, unsigned size) { return thread_group(size); }

template <class Group> void sync(const Group &group, int line = __builtin_LINE()) { group.sync(line); }
template <class Group> unsigned thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> unsigned group_size(const Group &group) { return group.size(); }

struct coalesced_group {};
struct cluster_group {};
struct grid_group {};
inline namespace no_host_way {
FOURWAYS_REFUSE(coalesced_threads)
FOURWAYS_REFUSE(this_cluster)
FOURWAYS_REFUSE(this_grid)
FOURWAYS_REFUSE(binary_partition)
FOURWAYS_REFUSE(labeled_partition)
FOURWAYS_REFUSE(memcpy_async)
FOURWAYS_REFUSE(wait)
} // namespace no_host_way

} // namespace cooperative_groups
