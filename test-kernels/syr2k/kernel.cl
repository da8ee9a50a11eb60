// golden: numpy float64 with error bounds
__kernel void syr2k(__global const float *a, __global const float *b, __global float *c, float alpha, float beta, int n, int m) {
  int j = get_global_id(0), i = get_global_id(1);
  if (i >= n || j > i)
    return;
  float sum = c[i * n + j] * beta;
  for (int k = 0; k < m; k++)
    sum += a[i * m + k] * alpha * b[j * m + k] + b[i * m + k] * alpha * a[j * m + k];
  c[i * n + j] = sum;
}
