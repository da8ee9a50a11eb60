// golden: numpy float64 with error bounds
// One sweep: x' = (b - (A - D) x) / D. A row a group, its sum by halves in local memory.
__kernel void sweep(__global const double *a, __global const double *b, __global const double *x, __global double *next, int n) {
  __local double s[16];
  int t = get_local_id(0), row = get_group_id(0);
  double sum = 0.0;
  for (int j = t; j < n; j += 16)
    if (j != row)
      sum += a[row * n + j] * x[j];
  s[t] = sum;
  for (int half_ = 8; half_ > 0; half_ /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_)
      s[t] += s[t + half_];
  }
  if (t == 0)
    next[row] = (b[row] - s[0]) / a[row * n + row];
}
