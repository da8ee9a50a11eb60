// golden: numpy float64 with error bounds
// The input has SIZE - 1 rows and columns more than the output.
__kernel void convolve(__global const float *in, __global const float *filter, __global float *out, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h)
    return;
  __global const float *from = in + y * (w + SIZE - 1) + x;
  float sum = 0.0f;
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++)
      sum += from[i * (w + SIZE - 1) + j] * filter[i * SIZE + j];
  out[y * w + x] = sum;
}
