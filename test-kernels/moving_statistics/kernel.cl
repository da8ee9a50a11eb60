// golden: numpy float64 with error bounds
// Mean and variance of each window as Welford has them; the extremes of a window beside them.
__kernel void windows(__global const float *x, __global float *mean, __global float *variance, __global float2 *extremes, int n, int width) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i + width > n)
    return;
  float m = 0.0f, s = 0.0f, low = INFINITY, high = -INFINITY;
  for (int k = 0; k < width; k++) {
    float v = x[i + k], d = v - m;
    m += d / (float)(k + 1);
    s += d * (v - m);
    low = fmin(low, v);
    high = fmax(high, v);
  }
  mean[i] = m;
  variance[i] = s / (float)(width - 1);
  extremes[i] = (float2)(low, high);
}
