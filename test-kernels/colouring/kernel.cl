// golden: greedy colouring in Python
// A vertex takes its colour once all neighbours of higher priority have theirs: the least that none of them has.
__kernel void colour(__global const int *rows, __global const int *columns, __global const uint *priority, __global int *colours, __global const int *before, int n) {
  int v = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (v >= n)
    return;
  if (before[v] >= 0) {
    colours[v] = before[v];
    return;
  }
  ulong taken = 0;
  for (int k = rows[v]; k < rows[v + 1]; k++) {
    int w = columns[k];
    if (priority[w] > priority[v]) {
      if (before[w] < 0)
        return;
      taken |= 1UL << before[w];
    }
  }
  colours[v] = 63 - (int)clz(~taken & (taken + 1));
}
