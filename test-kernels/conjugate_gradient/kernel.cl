// golden: numpy float64 with error bounds
__kernel void product(__global const double *p, __global double *q, int w) {
  int i = get_global_id(0), j = get_global_id(1), at = j * w + i;
  if (i >= w)
    return;
  double v = p[at] * 4.5;
  v -= j > 0 ? p[at - w] : 0.0;
  v -= j < w - 1 ? p[at + w] : 0.0;
  v -= i > 0 ? p[at - 1] : 0.0;
  v -= i < w - 1 ? p[at + 1] : 0.0;
  q[at] = v;
}
__kernel void dots(__global const double *a, __global const double *b, __global double *parts, int n) {
  __local double s[32];
  int t = get_local_id(0), i = get_global_id(0);
  s[t] = i < n ? a[i] * b[i] : 0.0;
  for (int k = 16; k > 0; k >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < k)
      s[t] += s[t + k];
  }
  if (t == 0)
    parts[get_group_id(0)] = s[0];
}
__kernel void total(__global const double *parts, __global double *scalars, int groups, int at) {
  double s = 0.0;
  for (int i = 0; i < groups; i++)
    s += parts[i];
  scalars[at] = s;
}
__kernel void descend(__global double *x, __global double *r, __global const double *p, __global const double *q, __global const double *scalars, int n) {
  int i = get_global_id(0);
  double alpha = scalars[0] / scalars[1];
  if (i < n) {
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
  }
}
__kernel void turn(__global const double *r, __global double *p, __global const double *scalars, int n) {
  int i = get_global_id(0);
  if (i < n)
    p[i] = r[i] + scalars[2] / scalars[0] * p[i];
}
