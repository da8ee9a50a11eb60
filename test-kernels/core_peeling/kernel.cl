// golden: peeling in Python
// Vertices of fewer than k living neighbours leave, and take a degree from each neighbour.
__kernel void peel(__global const int *rows, __global const int *columns, volatile __global int *degree, __global int *core, volatile __global int *left, int n, int k, int round) {
  int v = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (v >= n || core[v] >= 0)
    return;
  int d = atomic_add(&degree[v], 0);
  if (d >= k)
    return;
  core[v] = k - 1;
  atomic_inc(&left[round]);
  for (int e = rows[v]; e < rows[v + 1]; e++)
    atomic_dec(&degree[columns[e]]);
}
