// golden: numpy float64 with error bounds
__kernel void bicg(__global const double *a, __global const double *p, __global const double *r, __global double *q, __global double *s, int m, int n) {
  int i = get_local_id(0);
  double sum = 0.0;
  if (get_group_id(0) == 0) {
    if (i >= m)
      return;
    for (int j = 0; j < n; j++)
      sum += a[i * n + j] * p[j];
    q[i] = sum;
  } else {
    if (i >= n)
      return;
    for (int j = 0; j < m; j++)
      sum += a[j * n + i] * r[j];
    s[i] = sum;
  }
}
