// golden: numpy integers
// Ranks in fixed point of 20 bits, so that atomic sums are exact in any order.
__kernel void push(__global const int *rows, __global const int *columns, __global const uint *rank, volatile __global uint *next, int n) {
  int v = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (v >= n)
    return;
  int first = rows[v], last = rows[v + 1];
  if (first == last)
    return;
  uint share = rank[v] / (uint)(last - first);
  for (int k = first; k < last; k++)
    atomic_add(&next[columns[k]], share);
}
__kernel void damp(__global uint *rank, __global uint *next, uint base, int n) {
  int v = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (v >= n)
    return;
  rank[v] = base + (uint)(((ulong)next[v] * 217) >> 8);
  next[v] = 0;
}
