// Reductions and scans of cooperative groups: `<cooperative_groups/reduce.h>` and `<cooperative_groups/scan.h>`.
#pragma once
#include "cooperative_groups.h"

namespace cooperative_groups {

// Of a type, or of whatever the operands are.
#define __HEDDLE_OPERATION(name, result) \
  template <class T = void> struct name { __HEDDLE_METHOD T operator()(T a, T b) const { return result; } }; \
  template <> struct name<void> { template <class T> __HEDDLE_METHOD T operator()(T a, T b) const { return result; } };
__HEDDLE_OPERATION(plus, a + b)
__HEDDLE_OPERATION(less, b < a ? b : a)
__HEDDLE_OPERATION(greater, a < b ? b : a)
__HEDDLE_OPERATION(bit_and, a & b)
__HEDDLE_OPERATION(bit_or, a | b)
__HEDDLE_OPERATION(bit_xor, a ^ b)
#undef __HEDDLE_OPERATION

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
