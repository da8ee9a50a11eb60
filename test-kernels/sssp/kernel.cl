// golden: Bellman-Ford in Python
__kernel void relax(__global const int *rows, __global const int *columns, __global const uint *weight, volatile __global uint *dist, volatile __global uint *changed, int n, int round) {
  int v = get_global_id(0);
  if (v >= n || (round > 0 && changed[round - 1] == 0))
    return;
  uint d = dist[v];
  if (d == UINT_MAX)
    return;
  bool any = false;
  for (int k = rows[v]; k < rows[v + 1]; k++)
    any |= atomic_min(&dist[columns[k]], d + weight[k]) > d + weight[k];
  if (any)
    atomic_or(&changed[round], 1u);
}
