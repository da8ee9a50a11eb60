// golden: numpy float64 with error bounds; no coefficient rounds within them
__kernel void dct(__global const char *image, __constant float *basis, __global float *out, __global short *quantised, int w) {
  __local float s[8][8], t[8][8];
  int x = get_local_id(0), y = get_local_id(1), at = get_global_id(1) * w + get_global_id(0);
  s[y][x] = image[at];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int j = 0; j < 8; j++)
    sum += s[y][j] * basis[8 * x + j];
  t[y][x] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0.0f;
  for (int j = 0; j < 8; j++)
    sum += basis[8 * y + j] * t[j][x];
  out[at] = sum;
  quantised[at] = convert_short_rte(sum / 31.7f);
}
