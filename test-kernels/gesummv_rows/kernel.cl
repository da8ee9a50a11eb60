// golden: numpy float64 with error bounds
// Two matrices stored by rows, both walked by the same work-item.
__kernel void gesummv(__global const float *a, __global const float *b, __global const float *x, __global float *y, float alpha, float beta, int n, int m) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float s = 0.0f, t = 0.0f;
  for (int j = 0; j < m; j++) {
    s += a[i * m + j] * x[j];
    t += b[i * m + j] * x[j];
  }
  y[i] = alpha * s + beta * t;
}
