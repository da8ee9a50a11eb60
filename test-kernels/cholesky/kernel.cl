// Golden: numpy.linalg.cholesky in float64.
__kernel void cholesky(__global double *a, int n) {
  int i = get_local_id(0);
  for (int k = 0; k < n; k++) {
    if (i == k)
      a[k * n + k] = sqrt(a[k * n + k]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i > k && i < n)
      a[i * n + k] /= a[k * n + k];
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i > k && i < n)
      for (int j = k + 1; j <= i; j++)
        a[i * n + j] -= a[i * n + k] * a[j * n + k];
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (i < n)
    for (int j = i + 1; j < n; j++)
      a[i * n + j] = 0.0;
}
