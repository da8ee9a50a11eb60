// golden: numpy float64 with error bounds
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void norm(__global const double *a, __global double *r, int m, int n, int k) {
  __local double s[16];
  int t = get_local_id(0);
  double sum = 0.0;
  for (int i = t; i < m; i += 16)
    sum += a[i * n + k] * a[i * n + k];
  s[t] = sum;
  for (int half_size = 8; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_size)
      s[t] += s[t + half_size];
  }
  if (t == 0)
    r[k * n + k] = sqrt(s[0]);
}
__kernel void scale(__global const double *a, __global const double *r, __global double *q, int m, int n, int k) {
  int i = get_global_id(0);
  if (i < m)
    q[i * n + k] = a[i * n + k] / r[k * n + k];
}
__kernel void project(__global double *a, __global double *r, __global const double *q, int m, int n, int k) {
  int j = get_global_id(0);
  if (j <= k)
    return;
  double s = 0.0;
  for (int i = 0; i < m; i++)
    s += q[i * n + k] * a[i * n + j];
  r[k * n + j] = s;
  for (int i = 0; i < m; i++)
    a[i * n + j] -= q[i * n + k] * s;
}
