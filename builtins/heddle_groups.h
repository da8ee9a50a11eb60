// Reductions and scans of cooperative groups: `<cooperative_groups/reduce.h>` and `<cooperative_groups/scan.h>`.
#pragma once
#include "cooperative_groups.h"

namespace cooperative_groups {

template <class T = void> struct plus { __HEDDLE_METHOD T operator()(T a, T b) const { return a + b; } };
template <class T = void> struct less { __HEDDLE_METHOD T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T = void> struct greater { __HEDDLE_METHOD T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T = void> struct bit_and { __HEDDLE_METHOD T operator()(T a, T b) const { return a & b; } };
template <class T = void> struct bit_or { __HEDDLE_METHOD T operator()(T a, T b) const { return a | b; } };
template <class T = void> struct bit_xor { __HEDDLE_METHOD T operator()(T a, T b) const { return a ^ b; } };

template <unsigned N, class Parent, class T, class Op>
__HEDDLE_METHOD T reduce(const thread_block_tile<N, Parent> &group, T v, Op op) {
  for (unsigned lanes = N / 2; lanes != 0; lanes /= 2) v = op(v, group.shfl_xor(v, (int)lanes));
  return v;
}
template <class T, class Op> __HEDDLE_METHOD T reduce(const coalesced_group &group, T v, Op op) {
  T all = group.shfl(v, 0);
  for (unsigned rank = 1; rank < group.size(); rank++) all = op(all, group.shfl(v, rank));
  return all;
}

template <unsigned N, class Parent, class T, class Op>
__HEDDLE_METHOD T inclusive_scan(const thread_block_tile<N, Parent> &group, T v, Op op) {
  for (unsigned delta = 1; delta < N; delta *= 2) {
    T before = group.shfl_up(v, delta);
    if (group.thread_rank() >= delta) v = op(before, v);
  }
  return v;
}
template <class T, class Op> __HEDDLE_METHOD T inclusive_scan(const coalesced_group &group, T v, Op op) {
  T all = group.shfl(v, 0), own = all;
  for (unsigned rank = 1; rank < group.size(); rank++) {
    all = op(all, group.shfl(v, rank));
    if (group.thread_rank() == rank) own = all;
  }
  return own;
}
template <class Group, class T> __HEDDLE_METHOD T inclusive_scan(const Group &group, T v) {
  return inclusive_scan(group, v, plus<T>());
}
// What the first one gets is the type's zero.
template <class Group, class T, class Op> __HEDDLE_METHOD T exclusive_scan(const Group &group, T v, Op op) {
  T through = inclusive_scan(group, v, op);
  unsigned rank = group.thread_rank();
  T before = group.shfl(through, rank == 0 ? 0 : rank - 1);
  return rank == 0 ? T() : before;
}
template <class Group, class T> __HEDDLE_METHOD T exclusive_scan(const Group &group, T v) {
  return exclusive_scan(group, v, plus<T>());
}

}  // namespace cooperative_groups
