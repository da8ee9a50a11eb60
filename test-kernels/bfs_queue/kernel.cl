// golden: breadth-first search in Python
// A level: the frontier's vertices claim their neighbours and queue them for the next level.
__kernel void level(__global const int *rows, __global const int *columns, volatile __global int *cost, __global const int *frontier,
                    __global int *next, volatile __global int *sizes, int depth) {
  int tid = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (tid >= sizes[depth])
    return;
  int v = frontier[tid];
  for (int k = rows[v]; k < rows[v + 1]; k++) {
    int w = columns[k];
    if (atomic_cmpxchg(&cost[w], -1, depth + 1) == -1)
      next[atomic_inc(&sizes[depth + 1])] = w;
  }
}
