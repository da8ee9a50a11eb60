// golden: numpy float64 with error bounds
// A row a work-item walks it three times: mean, variance, result. Rows of neighbours are apart.
__kernel void normalise(__global const float *in, __global const float *gain, __global const float *bias, __global float *out, int rows, int n, float small) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= rows)
    return;
  __global const float *x = in + i * n;
  float mean = 0.0f, variance = 0.0f;
  for (int k = 0; k < n; k++)
    mean += x[k];
  mean /= (float)n;
  for (int k = 0; k < n; k++) {
    float d = x[k] - mean;
    variance += d * d;
  }
  float scale = 1.0f / sqrt(variance / (float)n + small);
  for (int k = 0; k < n; k++)
    out[i * n + k] = (x[k] - mean) * scale * gain[k] + bias[k];
}
