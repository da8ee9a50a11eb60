// golden: numpy float64 with error bounds
__kernel void ax(__global const float *a, __global const float *x, __global float *t, int m, int n) {
  int i = get_global_id(0);
  if (i < m) {
    float sum = 0.0f;
    for (int j = 0; j < n; j++)
      sum += a[i * n + j] * x[j];
    t[i] = sum;
  }
}
__kernel void aty(__global const float *a, __global const float *t, __global float *y, int m, int n) {
  int j = get_global_id(0);
  if (j < n) {
    y[j] = 0.0f;
    for (int i = 0; i < m; i++)
      y[j] += a[i * n + j] * t[i];
  }
}
