// golden: the same in Python's order of rows
// Floyd and Steinberg's dithering: a row a work-item, each three pixels behind the row above it.
__kernel void dither(__global const uchar *in, __global uchar *out, int w, int h) {
  __local short error[64][68];
  int y = get_local_id(0);
  for (int x = 0; x < w + 2; x++)
    error[y][x] = 0;
  for (int step = 0; step < w + 3 * h; step++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = step - 3 * y;
    if (x >= 0 && x < w) {
      int v = in[y * w + x] + ((error[y][x + 1] + 8) >> 4);
      int bit = v >= 128, e = v - 255 * bit;
      out[y * w + x] = 255 * bit;
      error[y][x + 2] += 7 * e;
      if (y + 1 < h) {
        error[y + 1][x] += 3 * e;
        error[y + 1][x + 1] += 5 * e;
        error[y + 1][x + 2] += e;
      }
    }
  }
}
