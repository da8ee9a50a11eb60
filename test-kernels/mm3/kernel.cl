// golden: numpy float64 with error bounds
__kernel void mm(__global const float *a, __global const float *b, __global float *c, int m, int k, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= n || y >= m)
    return;
  float sum = 0.0f;
  for (int i = 0; i < k; i++)
    sum = fma(a[y * k + i], b[i * n + x], sum);
  c[y * n + x] = sum;
}
