// Cooperative groups up to a block: the block, tiles of a warp, the lanes that are active.
#pragma once

namespace cooperative_groups {

struct thread_block {
  __HEDDLE_METHOD static void sync() { __syncthreads(); }
  __HEDDLE_METHOD static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  __HEDDLE_METHOD static unsigned num_threads() { return size(); }
  __HEDDLE_METHOD static unsigned thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  __HEDDLE_METHOD static dim3 group_index() { return blockIdx; }
  __HEDDLE_METHOD static dim3 thread_index() { return threadIdx; }
  __HEDDLE_METHOD static dim3 group_dim() { return blockDim; }
};
__HEDDLE_METHOD thread_block this_thread_block() { return {}; }

// A part of a warp with `N` lanes, a power of two.
template <unsigned N, class Parent = void> struct thread_block_tile {
  static_assert(N != 0 && (N & (N - 1)) == 0 && N <= 64, "a tile has a power of two of lanes, and no more than a warp");
  thread_block_tile() = default;
  // A function takes tiles of whatever group.
  template <class Other> __HEDDLE_METHOD thread_block_tile(const thread_block_tile<N, Other> &) {}
  __HEDDLE_METHOD static void sync() { __heddle_fence(3); }
  __HEDDLE_METHOD static constexpr unsigned size() { return N; }
  __HEDDLE_METHOD static constexpr unsigned num_threads() { return N; }
  __HEDDLE_METHOD static unsigned thread_rank() { return __heddle_lane() & (N - 1); }
  __HEDDLE_METHOD static unsigned meta_group_rank() { return thread_block::thread_rank() / N; }
  __HEDDLE_METHOD static unsigned meta_group_size() { return (thread_block::size() + N - 1) / N; }
  template <class T> __HEDDLE_METHOD T shfl(T v, int lane) const { return __heddle_from(v, __heddle_indexed(lane, N)); }
  template <class T> __HEDDLE_METHOD T shfl_up(T v, unsigned delta) const { return __heddle_from(v, __heddle_above(delta, N)); }
  template <class T> __HEDDLE_METHOD T shfl_down(T v, unsigned delta) const { return __heddle_from(v, __heddle_below(delta, N)); }
  template <class T> __HEDDLE_METHOD T shfl_xor(T v, int lanes) const { return __heddle_from(v, __heddle_crossed(lanes, N)); }
  __HEDDLE_METHOD unsigned long long ballot(int predicate) const {
    return __heddle_ballot(predicate) >> (__heddle_lane() & ~(N - 1)) & (~0ull >> (64 - N));
  }
  __HEDDLE_METHOD int any(int predicate) const { return ballot(predicate) != 0; }
  __HEDDLE_METHOD int all(int predicate) const { return ballot(predicate == 0) == 0; }
};
template <unsigned N, class Group> __HEDDLE_METHOD thread_block_tile<N, Group> tiled_partition(const Group &) { return {}; }

// The lanes that come here together.
struct coalesced_group {
  unsigned long long lanes;
  __HEDDLE_METHOD void sync() const { __heddle_fence(3); }
  __HEDDLE_METHOD unsigned size() const { return (unsigned)__builtin_popcountll(lanes); }
  __HEDDLE_METHOD unsigned num_threads() const { return size(); }
  __HEDDLE_METHOD unsigned thread_rank() const { return (unsigned)__builtin_popcountll(lanes & ((1ull << __heddle_lane()) - 1)); }
  template <class T> __HEDDLE_METHOD T shfl(T v, unsigned rank) const {
    unsigned long long left = lanes;
    for (unsigned i = 0; i < rank; i++) left &= left - 1;
    return __heddle_from(v, (unsigned)__builtin_ctzll(left));
  }
  __HEDDLE_METHOD int any(int predicate) const { return __heddle_ballot(predicate) != 0; }
  __HEDDLE_METHOD int all(int predicate) const { return __heddle_ballot(predicate == 0) == 0; }
};
__HEDDLE_METHOD coalesced_group coalesced_threads() { return {__heddle_active()}; }

template <class Group> __HEDDLE_METHOD void sync(const Group &group) { group.sync(); }

struct grid_group;
__device__ grid_group this_grid() __HEDDLE_MISSING("cooperative groups beyond a block");
__device__ grid_group this_cluster() __HEDDLE_MISSING("cooperative groups beyond a block");

}  // namespace cooperative_groups
