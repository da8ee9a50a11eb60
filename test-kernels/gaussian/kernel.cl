// golden: numpy float64 with error bounds
__kernel void fan1(__global const float *a, __global float *m, int n, int t) {
  int i = get_global_id(0) + t + 1;
  if (i < n)
    m[i * n + t] = a[i * n + t] / a[t * n + t];
}
__kernel void fan2(__global float *a, __global float *b, __global const float *m, int n, int t) {
  int j = get_global_id(0) + t, i = get_global_id(1) + t + 1;
  if (i >= n || j >= n)
    return;
  a[i * n + j] -= m[i * n + t] * a[t * n + j];
  if (j == t)
    b[i] -= m[i * n + t] * b[t];
}
__kernel void back(__global const float *a, __global const float *b, __global float *x, int n) {
  for (int i = n - 1; i >= 0; i--) {
    float s = b[i];
    for (int j = n - 1; j > i; j--)
      s -= a[i * n + j] * x[j];
    x[i] = s / a[i * n + i];
  }
}
