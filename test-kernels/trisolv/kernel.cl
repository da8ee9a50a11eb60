// golden: numpy float64 with error bounds
__kernel void trisolv(__global const double *l, __global const double *b, __global double *x, __local double *now, int n) {
  int i = get_local_id(0);
  double rest = i < n ? b[i] : 0.0;
  for (int k = 0; k < n; k++) {
    if (i == k) {
      *now = rest / l[k * n + k];
      x[k] = *now;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i > k && i < n)
      rest -= l[i * n + k] * *now;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
