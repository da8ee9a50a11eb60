// golden: numpy float64 with error bounds
// Each work-item walks along a row of its own: neighbours are a whole row apart.
__kernel void rows(__global const float *a, __global const float *x, __global float *y, float alpha, float beta, int m, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= m)
    return;
  float sum = 0.0f;
  for (int j = 0; j < n; j++)
    sum = fma(a[i * n + j], x[j], sum);
  y[i] = alpha * sum + beta * y[i];
}
// Four rows a work-item, the vector in a register.
__kernel void four_rows(__global const float *a, __global const float *x, __global float *z, int m, int n) {
  int i = 4 * (get_group_id(0) * get_local_size(0) + get_local_id(0));
  float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  int rows = clamp(m - i, 0, 4);
  for (int j = 0; j < n; j++) {
    float v = x[j];
    for (int k = 0; k < rows; k++)
      sum[k] += a[(i + k) * n + j] * v;
  }
  for (int k = 0; k < rows; k++)
    z[i + k] = sum[k];
}
