// golden: dynamic programming in Python
// Costs of products of `span` + 1 matrices in the cheapest order: a launch a span, a product a work-item.
__kernel void chain(__global const int *sizes, __global ulong *cost, __global uchar *split, int n, int span) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0), j = i + span;
  if (j >= n)
    return;
  ulong best = ULONG_MAX;
  uchar where = 0;
  for (int k = i; k < j; k++) {
    ulong c = cost[i * n + k] + cost[(k + 1) * n + j] + (ulong)sizes[i] * sizes[k + 1] * sizes[j + 1];
    if (c < best) {
      best = c;
      where = k;
    }
  }
  cost[i * n + j] = best;
  split[i * n + j] = where;
}
