// golden: numpy integers and float64 with error bounds
__kernel void likelihood(__global const uchar *image, __global const int2 *pos, __constant int2 *offset, __global float *weight, int points, int size) {
  int i = get_global_id(0), s = 0;
  for (int k = 0; k < points; k++) {
    int2 at = (pos[i] + offset[k]) & (size - 1);
    int v = image[at.y * size + at.x];
    s += (v - 100) * (v - 100) - (v - 228) * (v - 228);
  }
  weight[i] = exp((float)s / 262144.0f);
}
__kernel void accumulate(__global const float *weight, __global float *cdf, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; i++) {
    sum += weight[i];
    cdf[i] = sum;
  }
}
__kernel void resample(__global const float *cdf, __global const int2 *pos, __global int2 *moved, __global int *chosen, int n) {
  int i = get_global_id(0);
  float u = (float)i / (float)n * cdf[n - 1] + cdf[n - 1] * 0.003f;
  int low = 0, high = n - 1; // the first with cdf >= u
  while (low < high) {
    int middle = (low + high) / 2;
    if (cdf[middle] < u)
      low = middle + 1;
    else
      high = middle;
  }
  chosen[i] = low;
  moved[i] = pos[low];
}
