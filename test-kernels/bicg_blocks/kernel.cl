// golden: numpy float64 with error bounds
__kernel void s_of(__global const float *a, __global const float *r, __global float *s, int m, int n) {
  int j = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (j < n) {
    s[j] = 0.0f;
    for (int i = 0; i < m; i++)
      s[j] += r[i] * a[i * n + j];
  }
}
__kernel void q_of(__global const float *a, __global const float *p, __global float *q, int m, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i < m) {
    q[i] = 0.0f;
    for (int j = 0; j < n; j++)
      q[i] += a[i * n + j] * p[j];
  }
}
