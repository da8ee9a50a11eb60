// golden: numpy integers
__kernel void count(__global const int *columns, volatile __global int *counts, int nnz) {
  int k = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (k < nnz)
    atomic_inc(&counts[columns[k] + 1]);
}
__kernel void starts(__global int *counts, __global int *at, int n) {
  // One work-item: a short serial sum.
  if (get_global_id(0) == 0)
    for (int i = 0; i < n; i++) {
      counts[i + 1] += counts[i];
      at[i] = counts[i];
    }
}
// In any order within a row of the transpose.
__kernel void scatter(__global const int *rows, __global const int *columns, volatile __global int *at, __global int *to, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i < n)
    for (int k = rows[i]; k < rows[i + 1]; k++)
      to[atomic_inc(&at[columns[k]])] = i;
}
// Rows in order by insertion.
__kernel void order(__global const int *starts, __global int *to, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= n)
    return;
  for (int k = starts[i] + 1; k < starts[i + 1]; k++) {
    int v = to[k], j = k;
    for (; j > starts[i] && to[j - 1] > v; j--)
      to[j] = to[j - 1];
    to[j] = v;
  }
}
