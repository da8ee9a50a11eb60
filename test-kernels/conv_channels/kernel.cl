// golden: numpy float64 with error bounds
// Convolution of 3 x 3 over channels, the border counts as zero; an output channel a plane of the grid.
__kernel void conv(__global const float *in, __constant float *weight, __constant float *bias, __global float *out, int w, int h, int channels) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  int to = get_global_id(2);
  if (x >= w || y >= h)
    return;
  float sum = bias[to];
  for (int c = 0; c < channels; c++)
    for (int j = -1; j <= 1; j++)
      for (int i = -1; i <= 1; i++) {
        int u = x + i, v = y + j;
        if (u >= 0 && v >= 0 && u < w && v < h)
          sum += weight[((to * channels + c) * 3 + j + 1) * 3 + i + 1] * in[(c * h + v) * w + u];
      }
  out[(to * h + y) * w + x] = fmax(sum, 0.0f);
}
