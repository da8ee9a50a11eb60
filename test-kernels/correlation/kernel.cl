// golden: numpy float64 with error bounds
__kernel void moments(__global const float *x, __global float *mean, __global float *dev, int n, int m) {
  int j = get_global_id(0);
  if (j >= m)
    return;
  float s = 0.0f;
  for (int i = 0; i < n; i++)
    s += x[i * m + j];
  float mu = s / n, v = 0.0f;
  for (int i = 0; i < n; i++) {
    float d = x[i * m + j] - mu;
    v += d * d;
  }
  v = sqrt(v / n);
  mean[j] = mu;
  dev[j] = v < 0.1f ? 1.0f : v;
}
__kernel void normalise(__global float *x, __global const float *mean, __global const float *dev, int n, int m) {
  int j = get_global_id(0), i = get_global_id(1);
  if (j < m)
    x[i * m + j] = (x[i * m + j] - mean[j]) / (sqrt((float)n) * dev[j]);
}
__kernel void correlate(__global const float *x, __global float *c, int n, int m) {
  int i = get_global_id(0);
  if (i >= m)
    return;
  c[i * m + i] = 1.0f;
  for (int j = i + 1; j < m; j++) {
    float s = 0.0f;
    for (int k = 0; k < n; k++)
      s += x[k * m + i] * x[k * m + j];
    c[i * m + j] = s;
    c[j * m + i] = s;
  }
}
