// golden: numpy integers
__kernel void relax(__global int *d, __global int *hop, int n, int k) {
  int j = get_global_id(0), i = get_global_id(1);
  if (i >= n || j >= n)
    return;
  int via = d[i * n + k] + d[k * n + j];
  if (via < d[i * n + j]) {
    d[i * n + j] = via;
    hop[i * n + j] = k;
  }
}
