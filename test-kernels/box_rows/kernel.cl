// golden: numpy float64 with error bounds
// A sliding sum along each row, a row a work-item: one value enters and one leaves a step.
__kernel void box(__global const float *in, __global float *out, int w, int h, int radius) {
  int y = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (y >= h)
    return;
  float sum = 0.0f;
  for (int x = 0; x < radius; x++)
    sum += in[y * w + x];
  for (int x = 0; x < w; x++) {
    if (x + radius < w)
      sum += in[y * w + x + radius];
    if (x - radius - 1 >= 0)
      sum -= in[y * w + x - radius - 1];
    out[y * w + x] = sum * (1.0f / (2 * radius + 1));
  }
}
